/** Asks what to do with files whose names are taken: with the first one, or with all of them. */
import { Button, Checkbox, Group } from "@mantine/core";
import { useState } from "react";
import { plural } from "../../../ui/format.ts";
import { visibleLine } from "../../../ui/visible-text.ts";
import type { Upload } from "./item.ts";
import { decide } from "./queue.ts";
import classes from "./Uploads.module.css";

export function TakenNames({ asking }: { asking: readonly Upload[] }) {
  const [isForAll, setForAll] = useState(false);
  const [first, ...others] = asking;
  if (!first) return null;
  const ids = (isForAll ? asking : [first]).map(({ id }) => id);
  return (
    <section className={classes.question} aria-label="A name is taken">
      <span className={classes.words} role="alert">
        <bdi>{visibleLine(first.name)}</bdi> is already there.
      </span>
      {others.length > 0 && (
        <Checkbox
          size="sm"
          label={`Also for ${plural(others.length, "other")}`}
          checked={isForAll}
          onChange={({ currentTarget: { checked } }) => setForAll(checked)}
        />
      )}
      <Group gap={6}>
        <Button size="xs" variant="default" onClick={() => decide(ids, "replace")}>
          Replace
        </Button>
        <Button size="xs" variant="default" onClick={() => decide(ids, "keep both")}>
          Keep both
        </Button>
        <Button size="xs" variant="default" onClick={() => decide(ids, "skip")}>
          Skip
        </Button>
      </Group>
    </section>
  );
}

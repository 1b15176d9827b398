/** The file was changed by somebody else meanwhile: what can be done, with nothing lost. */
import { Button, Group, Text, TextInput } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import { ActionButton } from "../../../ui/ActionButton.tsx";
import { visibleLine } from "../../../ui/visible-text.ts";
import { Waiting } from "../../../ui/Waiting.tsx";
import { numbered } from "../uploads/item.ts";
import classes from "./Edit.module.css";
import type { Version } from "./versions.ts";

const Compared = lazy(async () => ({ default: (await import("./Compared.tsx")).Compared }));

interface Props {
  readonly name: string;
  readonly mine: () => string;
  readonly theirs: Version;
  readonly overwrite: () => Promise<unknown>;
  readonly saveAs: (name: string) => Promise<void>;
  readonly drop: () => void;
}

export function Conflict({ name, mine, theirs, overwrite, saveAs, drop }: Props) {
  const [compared, setCompared] = useState<string>();
  const [other, setOther] = useState(numbered(name, 2));
  const isGone = theirs.sha256 === "";
  return (
    <div className={classes.conflict} role="alert">
      <Text size="sm">
        <bdi>{visibleLine(name)}</bdi>{" "}
        {isGone
          ? "is not there any more, or is no text any more. Nothing was saved."
          : "was changed on the machine since you opened it. Nothing was saved."}
      </Text>
      <Group gap={8} align="end">
        {!isGone && (
          <>
            <Button
              size="xs"
              variant="default"
              onClick={() => setCompared(compared === undefined ? mine() : undefined)}
            >
              {compared === undefined ? "Compare" : "Hide the comparison"}
            </Button>
            <ActionButton size="xs" variant="default" work={overwrite}>
              Overwrite it
            </ActionButton>
            <Button size="xs" variant="default" onClick={drop}>
              Take theirs
            </Button>
          </>
        )}
        <TextInput
          size="xs"
          aria-label="Another name"
          value={other}
          onChange={({ currentTarget: { value } }) => setOther(value)}
        />
        <ActionButton size="xs" variant="default" work={() => saveAs(other)}>
          Save under this name
        </ActionButton>
      </Group>
      {compared !== undefined && (
        <Suspense fallback={<Waiting />}>
          <Compared mine={compared} theirs={theirs.text} />
        </Suspense>
      )}
    </div>
  );
}

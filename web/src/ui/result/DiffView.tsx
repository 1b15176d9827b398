/** A unified diff: each line keeps its sign, so that colours only help. */
import { Button } from "@mantine/core";
import { useMemo, useState } from "react";
import outputClasses from "../output/Output.module.css";
import { scrolled } from "../scrolled.ts";
import { visible } from "../terminal-text.ts";
import classes from "./DiffView.module.css";
import { diffLines } from "./diff.ts";

/** Lines that are shown at first, and added at a time. */
const LINES = 2_000;
/** Characters of a line. */
const LONGEST = 2_000;

const TAGS = { added: "ins", removed: "del", same: "span", place: "span" } as const;

export function DiffView({ diff, label = "Changes" }: { diff: string; label?: string }) {
  const lines = useMemo(() => diffLines(diff), [diff]);
  const [shown, setShown] = useState(LINES);
  const rest = lines.length - shown;
  return (
    <div>
      <pre className={outputClasses.output} {...scrolled(label)}>
        <span className={classes.lines}>
          {lines.slice(0, shown).map(({ kind, text }, at) => {
            const Tag = TAGS[kind];
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines never move
              <Tag key={at} className={classes.line} data-kind={kind}>
                {`${visible(text.slice(0, LONGEST))}${text.length > LONGEST ? "…" : ""}\n`}
              </Tag>
            );
          })}
        </span>
      </pre>
      {rest > 0 && (
        <Button size="xs" mt="xs" variant="default" onClick={() => setShown(shown + LINES)}>
          Show {Math.min(rest, LINES).toLocaleString("en")} more lines of {rest.toLocaleString("en")}
        </Button>
      )}
    </div>
  );
}

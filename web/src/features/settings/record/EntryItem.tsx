/** One entry of the record in words; all of it in its details. */
import { Button, Group } from "@mantine/core";
import { useState } from "react";
import { clockTime } from "../../../ui/format.ts";
import { Status } from "../../../ui/Status.tsx";
import { visibleLine } from "../../../ui/visible-text.ts";
import items from "../Items.module.css";
import { Item } from "../Items.tsx";
import { useMachineNames } from "../own-machines.ts";
import type { Entry, Filter } from "./entries.ts";
import { stateOf, subjectOf, wordsOf } from "./entry-words.ts";
import classes from "./Record.module.css";

interface Props {
  readonly entry: Entry;
  /** Shows only what is like it. */
  readonly narrow: (changed: Partial<Filter>) => void;
}

export function EntryItem({ entry, narrow }: Props) {
  const [isOpen, setOpen] = useState(false);
  const nameOf = useMachineNames();
  const { seq, at, by, device } = entry;
  const state = stateOf(entry);
  const subject = subjectOf(entry);
  return (
    <Item
      name={wordsOf(entry)}
      state={state && <Status tone={state.tone}>{state.text}</Status>}
      details={[
        `${seq}`,
        clockTime(at),
        by && `by ${visibleLine(by.name ?? by.grant)}`,
        device !== undefined && `on ${nameOf(device)}`,
      ]}
      actions={
        <Button
          size="sm"
          variant="subtle"
          aria-label={`Details of entry ${seq}`}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          Details
        </Button>
      }
    >
      {subject !== undefined && (
        <div className={classes.subject}>
          <bdi>{visibleLine(subject)}</bdi>
        </div>
      )}
      {isOpen && (
        <div className={items.more}>
          <Group gap="xs">
            {device !== undefined && (
              <Button size="sm" variant="default" onClick={() => narrow({ machine: device })}>
                Only this machine
              </Button>
            )}
            {by && (
              <Button size="sm" variant="default" onClick={() => narrow({ token: by.grant })}>
                Only by this one
              </Button>
            )}
          </Group>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
          <section className={classes.all} aria-label={`Entry ${seq}`} tabIndex={0}>
            <pre>{shown(entry)}</pre>
          </section>
        </div>
      )}
    </Item>
  );
}

/** Hidden characters are written out, and line breaks stay within their text. */
function shown(entry: Entry): string {
  return JSON.stringify(entry, undefined, 2).split("\n").map(visibleLine).join("\n");
}

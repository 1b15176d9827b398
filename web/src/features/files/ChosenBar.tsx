/** How many entries are chosen, and what can be done with all of them. */
import { ActionIcon, Button } from "@mantine/core";
import { IconChecks, IconX } from "@tabler/icons-react";
import { useRef } from "react";
import { useKeptFocus } from "../../ui/kept-focus.ts";
import classes from "./ChosenBar.module.css";
import type { Chooser } from "./use-choice.ts";
import { useChosenActions } from "./use-chosen-actions.ts";

interface Props {
  readonly device: string;
  readonly path: string;
  readonly chooser: Chooser;
}

export function ChosenBar({ device, path, chooser }: Props) {
  const count = chooser.chosen.length;
  return (
    <>
      <span className={classes.unseen} role="status">
        {count > 0 && `${count.toLocaleString()} chosen`}
      </span>
      {count > 0 && <Bar {...{ device, path, chooser }} />}
    </>
  );
}

function Bar({ device, path, chooser }: Props) {
  const bar = useRef<HTMLDivElement>(null);
  useKeptFocus(bar);
  const { chosen } = chooser;
  const actions = useChosenActions({ device, folder: path, entries: chosen });
  return (
    <div ref={bar} role="toolbar" aria-label="Chosen entries" className={classes.bar}>
      <span className={classes.count} aria-hidden>
        {chosen.length.toLocaleString()} chosen
      </span>
      <Button
        size="xs"
        variant="default"
        className={classes.action}
        leftSection={<IconChecks size={16} aria-hidden />}
        onClick={chooser.all}
      >
        All
      </Button>
      {actions.map(({ label, icon: Icon, isRed, act }) => (
        <Button
          key={label}
          size="xs"
          variant="default"
          className={classes.action}
          title={label}
          leftSection={<Icon size={16} aria-hidden />}
          {...(isRed && { c: "var(--bad)" })}
          onClick={act}
        >
          {label}
        </Button>
      ))}
      <ActionIcon
        variant="subtle"
        color="gray"
        size={30}
        className={classes.none}
        aria-label="Choose none"
        title="Choose none"
        onClick={chooser.clear}
      >
        <IconX size={16} aria-hidden />
      </ActionIcon>
    </div>
  );
}

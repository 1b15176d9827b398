/** The tools by name, with what each does; a filter narrows them. Arrows go through them. */
import { Text, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import type { KeyboardEvent, ReactNode } from "react";
import { create } from "zustand";
import type { Tool } from "../../data/tools.ts";
import classes from "./ToolList.module.css";

/** It stays while the person goes from tool to tool. */
const useFilter = create<{ readonly text: string }>(() => ({ text: "" }));

type Listed = Pick<Tool, "name" | "title" | "description">;

interface Props<T> {
  readonly tools: readonly T[];
  /** The link to one of them. */
  readonly children: (tool: T) => ReactNode;
  /** Goes on to what was chosen; undefined: nothing was. */
  readonly skip?: (() => void) | undefined;
}

export function ToolList<T extends Listed>({ tools, children, skip }: Props<T>) {
  const text = useFilter((filter) => filter.text);
  const shown = filtered(tools, text);
  return (
    <nav className={classes.box} aria-label="Tools" onKeyDown={moveByArrows}>
      {skip && (
        <button type="button" className={classes.skip} onClick={skip}>
          Skip the list of tools
        </button>
      )}
      <div className={classes.filter}>
        <TextInput
          type="search"
          aria-label="Filter tools"
          placeholder="Filter tools"
          leftSection={<IconSearch size={16} aria-hidden />}
          value={text}
          onChange={(event) => useFilter.setState({ text: event.currentTarget.value })}
        />
      </div>
      <ul className={classes.list}>
        {shown.map((tool) => (
          <li key={tool.name}>{children(tool)}</li>
        ))}
      </ul>
      {shown.length === 0 && (
        <Text size="sm" c="dimmed" p="sm" role="status">
          No tool has that in its name or description.
        </Text>
      )}
    </nav>
  );
}

function filtered<T extends Listed>(tools: readonly T[], text: string): T[] {
  const words = text.toLowerCase().split(/\s+/);
  const said = ({ name, title = "", description }: T) => `${name} ${title} ${description}`.toLowerCase();
  return tools
    .filter((tool) => words.every((word) => said(tool).includes(word)))
    .toSorted((one, other) => one.name.localeCompare(other.name));
}

function moveByArrows(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>("input, a")];
  const next = stops[stops.indexOf(document.activeElement as HTMLElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

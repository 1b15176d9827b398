/** The tabs, and the buttons for what is shown. */
import { ActionIcon } from "@mantine/core";
import {
  IconLayoutColumns,
  IconLayoutRows,
  IconList,
  IconPlus,
  IconSearch,
  IconSettings,
  IconTextScan2,
  IconX,
} from "@tabler/icons-react";
import type { KeyboardEvent, ReactNode } from "react";
import type { Command } from "./keys.ts";
import type { Layout, Tab } from "./layout.ts";
import { MoreMenu, type Panel } from "./MoreMenu.tsx";
import type { Room } from "./room.ts";
import { TabLabel } from "./TabLabel.tsx";
import classes from "./Terminal.module.css";

interface Props {
  readonly layout: Layout;
  readonly room: Room;
  readonly isBusy: boolean;
  readonly show: (tab: string) => void;
  /** Puts the focus into the terminal that is shown. */
  readonly focus: () => void;
  readonly run: (command: Command) => void;
  readonly open: (panel: Panel) => void;
  readonly filesLink: ReactNode;
}

export function TabStrip({ layout, room, isBusy, filesLink, ...props }: Props) {
  const { show, focus, run, open } = props;
  const { tabs, current } = layout;
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const at = tabs.findIndex(({ id }) => id === current);
    const next = nextOf(event.key, at, tabs);
    if (event.key === "Delete") run("close");
    if (event.key === "F2") run("rename");
    if (!next) return;
    event.preventDefault();
    show(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <div className={classes.strip}>
      <div role="tablist" aria-label="Terminals" className={classes.tabs} onKeyDown={press}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`tab-${tab.id}`}
            aria-controls={`panel-${tab.id}`}
            aria-selected={tab.id === current}
            tabIndex={tab.id === current ? 0 : -1}
            className={classes.tab}
            onClick={() => (tab.id === current ? focus() : show(tab.id))}
            onDoubleClick={() => open("rename")}
          >
            <TabLabel room={room} tab={tab} />
          </button>
        ))}
      </div>
      <Tool name="New terminal" isBusy={isBusy} act={() => run("new")}>
        <IconPlus size={18} />
      </Tool>
      <span className={classes.onDesk}>
        <Tool name="Split to the right" isBusy={isBusy} act={() => run("right")}>
          <IconLayoutColumns size={18} />
        </Tool>
        <Tool name="Split downwards" isBusy={isBusy} act={() => run("down")}>
          <IconLayoutRows size={18} />
        </Tool>
      </span>
      <Tool name="Search" act={() => run("search")}>
        <IconSearch size={18} />
      </Tool>
      <Tool name="Select text" act={() => open("text")}>
        <IconTextScan2 size={18} />
      </Tool>
      <Tool name="Open terminals" act={() => open("list")}>
        <IconList size={18} />
      </Tool>
      <span className={classes.onDesk}>
        <Tool name="Settings and keys" act={() => open("settings")}>
          <IconSettings size={18} />
        </Tool>
      </span>
      {filesLink}
      <MoreMenu run={run} open={open} />
      <span className={classes.onDesk}>
        <Tool name="Close" isBusy={isBusy} act={() => run("close")}>
          <IconX size={18} />
        </Tool>
      </span>
    </div>
  );
}

function nextOf(key: string, at: number, tabs: readonly Tab[]): Tab | undefined {
  if (key === "Home") return tabs[0];
  if (key === "End") return tabs.at(-1);
  const steps = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
  return steps === 0 ? undefined : tabs[(at + steps + tabs.length) % tabs.length];
}

interface ToolProps {
  readonly name: string;
  readonly isBusy?: boolean;
  readonly act: () => void;
  readonly children: ReactNode;
}

function Tool({ name, isBusy = false, act, children }: ToolProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size={34}
      aria-label={name}
      title={name}
      aria-disabled={isBusy}
      className={classes.tool}
      onClick={act}
    >
      {children}
    </ActionIcon>
  );
}

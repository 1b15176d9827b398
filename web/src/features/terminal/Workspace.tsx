/** Tabs and panes of a machine's terminals, and what is done with them. */
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { usePageTitle } from "../../ui/page-title.ts";
import { KeyBar } from "./KeyBar.tsx";
import type { Command } from "./keys.ts";
import {
  activated,
  activePane,
  named,
  paneAfter,
  panesOf,
  resized,
  shown,
  tabAfter,
  watching,
} from "./layout.ts";
import { usePublishedTerminals } from "./mounted.ts";
import { OpenTerminals } from "./OpenTerminals.tsx";
import { PaneTree } from "./PaneTree.tsx";
import { growFont } from "./preferences.ts";
import type { Room } from "./room.ts";
import { Settings } from "./Settings.tsx";
import { StartView } from "./StartView.tsx";
import { TabStrip } from "./TabStrip.tsx";
import classes from "./Terminal.module.css";
import { TextOverlay } from "./TextOverlay.tsx";
import { useLayout } from "./use-layout.ts";
import { useRoom } from "./use-room.ts";
import { type Terminals, useTerminals } from "./use-terminals.ts";
import { useVisibleHeight } from "./use-visible-height.ts";
import { takeWish } from "./wish.ts";

interface Props {
  readonly device: string;
  /** Its name. */
  readonly machine: string;
}

type Panel = "list" | "settings" | "text";

export function Workspace({ device, machine }: Props) {
  const [layout, change] = useLayout(device);
  const [panel, setPanel] = useState<Panel>();
  /** The pane that is searched. */
  const [searched, setSearched] = useState<string>();
  const page = useRef<HTMLDivElement>(null);
  const run = (command: Command) => commands[command]();
  const room = useRoom(device, layout, {
    onCommand: run,
    onFocus: (pane) => change((now) => activated(now, pane)),
    onTitle: (pane, title) => change((now) => named(now, pane, title)),
  });
  const terminals = useTerminals(room, layout, change);
  useWish(device, room, terminals);
  usePublishedTerminals(device, room, layout, change);
  const active = activePane(layout);
  const view = () => room?.shown(active?.id);
  const goTo = (pane: string | undefined) => {
    if (pane === undefined) return;
    change((now) => activated(now, pane));
    room?.shown(pane)?.focus();
  };
  const showTab = (tab: string | undefined) => {
    if (tab !== undefined) change((now) => shown(now, tab));
  };
  const commands: Record<Command, () => void> = {
    new: () => void terminals.create(),
    close: () => active && void terminals.close(active),
    right: () => void terminals.create("horizontal"),
    down: () => void terminals.create("vertical"),
    "next tab": () => showTab(tabAfter(layout, 1)),
    "previous tab": () => showTab(tabAfter(layout, -1)),
    "next pane": () => goTo(paneAfter(layout, 1)),
    "previous pane": () => goTo(paneAfter(layout, -1)),
    search: () => setSearched(active?.id),
    copy: () => void view()?.copy(),
    paste: () =>
      void view()
        ?.pasteClipboard()
        .catch(() => undefined),
    larger: () => growFont(1),
    smaller: () => growFont(-1),
    leave: () => page.current?.querySelector<HTMLElement>("[role='tab'][aria-selected='true']")?.focus(),
  };
  usePageName(`Terminals of ${machine}`);
  useVisibleHeight(page);
  const isEmpty = layout.tabs.length === 0;
  return (
    <div ref={page} className={classes.page}>
      <h1 id="page-title" tabIndex={-1} className={classes.title}>
        Terminals of {machine}
      </h1>
      {room && !isEmpty && (
        <TabStrip
          layout={layout}
          room={room}
          isBusy={terminals.isBusy}
          show={(tab) => showTab(tab)}
          focus={() => view()?.focus()}
          run={run}
          open={setPanel}
        />
      )}
      <div className={classes.panels}>
        {isEmpty && <StartView machine={machine} room={room} terminals={terminals} />}
        {layout.tabs.map((tab) => (
          <div
            key={tab.id}
            role="tabpanel"
            id={`panel-${tab.id}`}
            aria-labelledby={`tab-${tab.id}`}
            className={classes.panel}
            hidden={tab.id !== layout.current}
          >
            {room && (
              <PaneTree
                node={tab.root}
                room={room}
                terminals={terminals}
                active={tab.id === layout.current ? tab.active : undefined}
                isSplit={panesOf(tab.root).length > 1}
                searched={searched}
                endSearch={() => {
                  setSearched(undefined);
                  view()?.focus();
                }}
                resize={(split, share) => change((now) => resized(now, split, share))}
                watch={(pane, watches) => change((now) => watching(now, pane, watches))}
              />
            )}
          </div>
        ))}
      </div>
      {active && !active.watches && <KeyBar view={view} />}
      {panel === "list" && (
        <OpenTerminals room={room} terminals={terminals} close={() => setPanel(undefined)} />
      )}
      {panel === "settings" && <Settings close={() => setPanel(undefined)} />}
      {panel === "text" && <TextOverlay text={view()?.text ?? ""} close={() => setPanel(undefined)} />}
    </div>
  );
}

/** Who comes from a folder finds a terminal there. */
function useWish(device: string, room: Room | undefined, { createIn }: Terminals): void {
  const fulfil = useEffectEvent(() => {
    const folder = takeWish(device);
    if (folder !== undefined) void createIn(folder);
  });
  useEffect(() => {
    if (room) fulfil();
  }, [room]);
}

function usePageName(title: string): void {
  useEffect(() => {
    usePageTitle.setState({ title });
  }, [title]);
}

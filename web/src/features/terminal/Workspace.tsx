/** Tabs and panes of a machine's terminals, and what is done with them. */
import { type KeyboardEvent, type ReactNode, useRef, useState } from "react";
import { useReturnedFocus } from "../../ui/returned-focus.ts";
import { Waiting } from "../../ui/Waiting.tsx";
import { AskedBar } from "./AskedBar.tsx";
import { commandBeside } from "./beside-keys.ts";
import { KeyBar } from "./KeyBar.tsx";
import type { Command } from "./keys.ts";
import {
  activated,
  activePane,
  currentTab,
  named,
  paneAfter,
  panesOf,
  resized,
  shown,
  tabAfter,
  titled,
  watching,
} from "./layout.ts";
import type { Panel } from "./MoreMenu.tsx";
import { usePublishedTerminals } from "./mounted.ts";
import { OpenTerminals } from "./OpenTerminals.tsx";
import { PaneTree } from "./PaneTree.tsx";
import { growFont } from "./preferences.ts";
import { RenameTab } from "./RenameTab.tsx";
import { Settings } from "./Settings.tsx";
import { StartView } from "./StartView.tsx";
import { TabStrip } from "./TabStrip.tsx";
import classes from "./Terminal.module.css";
import { TextOverlay } from "./TextOverlay.tsx";
import { useLastLayout } from "./use-last-layout.ts";
import { useLayout } from "./use-layout.ts";
import { useRoom } from "./use-room.ts";
import { useTerminals } from "./use-terminals.ts";
import { useWishedTerminal } from "./use-wished-terminal.ts";

interface Props {
  readonly device: string;
  /** Its name. */
  readonly machine: string;
  /** Goes to the machine's files. */
  readonly toFiles: () => void;
  /** Where new terminals begin; undefined: where the shell does. */
  readonly folder?: string | undefined;
  /** The way there, where they are not in sight. */
  readonly filesLink?: ReactNode;
}

export function Workspace({ device, machine, toFiles, folder, filesLink }: Props) {
  const [layout, change] = useLayout(device);
  const [panel, setPanel] = useState<Panel>();
  /** The pane that is searched. */
  const [searched, setSearched] = useState<string>();
  const box = useRef<HTMLDivElement>(null);
  const run = (command: Command) => commands[command]();
  const room = useRoom(device, layout, {
    onCommand: run,
    onFocus: (pane) => change((now) => activated(now, pane)),
    onTitle: (pane, title) => change((now) => named(now, pane, title)),
  });
  const terminals = useTerminals(room, layout, change, folder);
  const isRestored = useLastLayout(device, room, change);
  useWishedTerminal(device, room && isRestored ? terminals : undefined);
  usePublishedTerminals(device, isRestored ? room : undefined, layout, change);
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
    detach: () => active && terminals.leave(active),
    rename: () => active && setPanel("rename"),
    files: toFiles,
    leave: () => box.current?.querySelector<HTMLElement>("[role='tab'][aria-selected='true']")?.focus(),
  };
  useReturnedFocus(panel !== undefined, commands.leave);
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const command = commandBeside(event);
    if (!command) return;
    event.preventDefault();
    run(command);
  };
  const current = currentTab(layout);
  const isEmpty = layout.tabs.length === 0;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of what is in it.
    <div ref={box} className={classes.workspace} onKeyDown={press}>
      {room && !isEmpty && (
        <TabStrip
          layout={layout}
          room={room}
          isBusy={terminals.isBusy}
          show={(tab) => showTab(tab)}
          focus={() => view()?.focus()}
          run={run}
          open={setPanel}
          filesLink={filesLink}
        />
      )}
      {terminals.cancelAsked && <AskedBar cancel={terminals.cancelAsked} />}
      <div className={classes.panels}>
        {isEmpty && !isRestored && <Waiting />}
        {isEmpty && isRestored && (
          <StartView machine={machine} room={room} terminals={terminals} filesLink={filesLink} />
        )}
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
      {panel === "rename" && current && (
        <RenameTab
          tab={current}
          rename={(title) => change((now) => titled(now, current.id, title))}
          close={() => setPanel(undefined)}
        />
      )}
      {panel === "text" && <TextOverlay text={view()?.text ?? ""} close={() => setPanel(undefined)} />}
    </div>
  );
}

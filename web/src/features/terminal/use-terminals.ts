/** What a person does with tabs, panes and the terminals in them. */
import { useState } from "react";
import { confirmed } from "../../ui/confirm.ts";
import { say, sayProblem } from "../../ui/notices.ts";
import { nameInText, shortLine } from "../../ui/visible-text.ts";
import { EarlyKeys } from "./early-keys.ts";
import { mayFocus } from "./focus.ts";
import {
  activated,
  activePane,
  allPanes,
  type Direction,
  type Layout,
  MOST_PANES,
  type Pane,
  showing,
  without,
  withSplit,
  withTab,
} from "./layout.ts";
import { type CreatedTerminal, type OpenTerminal, shellName } from "./messages.ts";
import type { Room } from "./room.ts";
import type { ChangeLayout } from "./use-layout.ts";
import type { TerminalView } from "./view.ts";

export interface Terminals {
  /** Something is under way that the person waits for. */
  readonly isBusy: boolean;
  /** A new terminal waits for an approval: takes that back. Undefined: none does. */
  readonly cancelAsked: (() => void) | undefined;
  /** Opens a terminal in a tab of its own, or beside the active pane. */
  create(beside?: Direction): Promise<void>;
  /** Opens one in a folder, in a tab of its own. */
  createIn(folder: string): Promise<void>;
  /** Shows a terminal that runs on the machine. */
  open(terminal: OpenTerminal): void;
  /** Opens a terminal in the place of one that has ended. */
  startAgain(pane: Pane): Promise<void>;
  /** Takes the pane away; its terminal goes on. */
  leave(pane: Pane): void;
  /** Takes the pane away and ends its terminal, after a question if something runs there. */
  close(pane: Pane): Promise<void>;
  /** Ends a terminal that runs on the machine, after a question. */
  end(terminal: OpenTerminal): Promise<void>;
}

/** `begin`: the folder of new terminals; undefined: that of the shell. */
export function useTerminals(
  room: Room | undefined,
  layout: Layout,
  change: ChangeLayout,
  begin: string | undefined,
): Terminals {
  const [isBusy, setBusy] = useState(false);
  const [asked, setAsked] = useState<AbortController>();
  const work = async <T>(doing: (room: Room) => Promise<T>): Promise<T | undefined> => {
    if (!room || isBusy) return undefined;
    setBusy(true);
    try {
      return await doing(room);
    } catch (error) {
      sayProblem(error);
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  const hasRoom = () => {
    if (allPanes(layout).length < MOST_PANES) return true;
    say(`No more than ${MOST_PANES} terminals are shown at once: close one first.`);
    return false;
  };
  /** While it waits for an approval, everything else goes on. */
  const made = async (keys: EarlyKeys, folder?: string): Promise<CreatedTerminal | undefined> => {
    if (asked) return void say("A new terminal waits for approval already.");
    const waiting = new AbortController();
    const { signal } = waiting;
    const onApproval = () => {
      setAsked(waiting);
      setBusy(false);
      keys.stop();
    };
    try {
      return await work(async (there) => {
        try {
          return await there.create(folder, { signal, onApproval });
        } catch (error) {
          if (signal.aborted) return undefined;
          throw error;
        }
      });
    } finally {
      setAsked((now) => (now === waiting ? undefined : now));
    }
  };
  /** What is typed until the new terminal has the focus is for it. */
  const shownOnceMade = async (place: (layout: Layout, made: CreatedTerminal) => Layout, folder?: string) => {
    const keys = new EarlyKeys();
    let view: TerminalView | undefined;
    try {
      const created = await made(keys, folder);
      if (!created) return;
      change((now) => place(now, created));
      view = await room?.drawn(created.terminal);
    } finally {
      keys.stop();
      if (view && mayFocus()) view.focus();
      if (keys.text !== "" && !view?.type(keys.text)) say("Some of what was typed was not sent.");
    }
  };
  const opened = async (placed: (layout: Layout, pane: Pane) => Layout, folder?: string) => {
    if (hasRoom()) await shownOnceMade((now, created) => placed(now, paneOf(created, false)), folder);
  };
  const kindOf = ({ id }: Pane) => room?.shown(id)?.useState.getState().attachment.kind ?? "failed";
  const drop = (pane: Pane) => change((now) => without(now, pane.id));
  return {
    isBusy,
    cancelAsked: asked && (() => asked.abort()),
    create: (beside) =>
      opened((now, pane) => {
        const active = activePane(now);
        return beside && active ? withSplit(now, active.id, beside, pane) : withTab(now, pane);
      }, begin),
    createIn: (folder) => opened(withTab, folder),
    open({ terminal, name, shell, own }) {
      const shown = allPanes(layout).find((pane) => pane.terminal === terminal);
      if (shown) return change((now) => activated(now, shown.id));
      if (hasRoom())
        change((now) => withTab(now, paneOf({ terminal, name: name ?? shellName(shell) }, !own)));
    },
    async startAgain(pane) {
      await shownOnceMade((now, created) => showing(now, pane.id, created));
    },
    leave(pane) {
      const kind = kindOf(pane);
      drop(pane);
      if (kind !== "ended" && kind !== "failed") say("It keeps running: see Open terminals.");
    },
    async close(pane) {
      const kind = kindOf(pane);
      if (kind === "ended" || kind === "failed" || pane.watches) return drop(pane);
      const isEnded = await work(async (there) => {
        const found = (await there.list()).find(({ terminal }) => terminal === pane.terminal);
        if (found?.foreground !== undefined && !(await confirmed(endQuestion(found)))) return false;
        if (found) await there.endTerminal(pane.terminal);
        return true;
      });
      if (isEnded) drop(pane);
    },
    async end(terminal) {
      if (await confirmed(endQuestion(terminal))) await work((there) => there.endTerminal(terminal.terminal));
    },
  };
}

/** A new one. */
export function paneOf(shown: Pick<Pane, "terminal" | "name">, watches: boolean): Pane {
  return { kind: "pane", id: crypto.randomUUID(), ...shown, watches };
}

function endQuestion({ foreground, name, shell }: OpenTerminal) {
  const what = nameInText(name ?? shellName(shell));
  return {
    text:
      foreground === undefined
        ? `This ends ${what}.`
        : `This runs in it, and is ended: ${shortLine(foreground)}`,
    yes: "End it",
  };
}

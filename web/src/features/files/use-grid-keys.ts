/** The keys of a list of entries. Letters that are typed lead to the name that begins with them. */
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useRef } from "react";
import { deleteEntries } from "./actions.ts";
import { openDialog } from "./dialog.ts";
import { type Entry, isNamed } from "./entries.ts";
import { nameOf, parentOf, splatOf } from "./paths.ts";
import { beginAt } from "./use-active.ts";
import type { Chooser } from "./use-choice.ts";
import { useRights } from "./use-rights.ts";

/** Letters that come within this time belong together, in milliseconds. */
const TOGETHER = 1_000;

interface Grid {
  readonly device: string;
  readonly path: string;
  readonly entries: readonly Entry[];
  readonly active: number;
  /** Lines on the screen. */
  readonly page: number;
  readonly go: (index: number) => void;
  readonly open: (entry: Entry) => void;
  readonly showMenu: (index: number) => void;
  readonly chooser: Chooser;
}

export function useGridKeys(grid: Grid): (event: KeyboardEvent) => void {
  const { device, path, entries, active, page, go, open, showMenu, chooser } = grid;
  const navigate = useNavigate();
  const rights = useRights(device);
  const typed = useRef({ text: "", at: 0 });
  const entry = entries[active];
  const last = entries.length - 1;
  const above = parentOf(path);
  const moves: Readonly<Record<string, number>> = {
    ...{ ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page },
    ...{ Home: 0, End: last },
  };
  const acts: Readonly<Record<string, () => void>> = {
    Enter: () => entry && open(entry),
    Backspace: () => {
      if (above === undefined) return;
      beginAt(above, nameOf(path));
      void navigate({ to: "/d/$device/files/$", params: { device, _splat: splatOf(above) } });
    },
    F2: () =>
      entry && rights.move && named(entry, () => openDialog({ kind: "rename", device, folder: path, entry })),
    Delete: () => {
      const { chosen } = chooser;
      if (!rights.remove) return;
      if (chosen.length > 0) void deleteEntries({ device, folder: path, entries: chosen });
      else if (entry) named(entry, () => void deleteEntries({ device, folder: path, entries: [entry] }));
    },
    ContextMenu: () => showMenu(active),
    " ": () => chooser.toggle(active),
  };
  return (event) => {
    const { key, target, currentTarget, shiftKey } = event;
    // Buttons in the lines have keys of their own.
    if (target !== currentTarget || event.altKey) return;
    const isAll = (event.ctrlKey || event.metaKey) && key.toLowerCase() === "a";
    if ((event.ctrlKey || event.metaKey) && !isAll) return;
    const act = shiftKey && key === "F10" ? acts.ContextMenu : acts[key];
    const move = moves[key];
    if (isAll) chooser.all();
    else if (key === "Escape" && chooser.chosen.length > 0) chooser.clear();
    else if (act) act();
    else if (move !== undefined) goTo(Math.min(Math.max(move, 0), last), shiftKey);
    else if (!isTyped(key)) return;
    else jump(key, event.timeStamp);
    event.preventDefault();
  };

  /** Another file may have the name by which one is shown that tools do not know: opening says so. */
  function named(one: Entry, act: () => void): void {
    if (isNamed(one)) act();
    else open(one);
  }

  function goTo(index: number, withRange: boolean): void {
    if (withRange) chooser.extend(active, index);
    go(index);
  }

  function jump(key: string, at: number): void {
    const isNew = at - typed.current.at > TOGETHER;
    const text = (isNew ? "" : typed.current.text) + key.toLowerCase();
    typed.current = { text, at };
    // The same letter again leads to the next one.
    const from = isNew || text.length === 1 ? active + 1 : active;
    const order = [...entries.slice(from), ...entries.slice(0, from)];
    const found = order.find(({ name }) => name.toLowerCase().startsWith(text));
    if (found) go(entries.indexOf(found));
  }
}

/** The filter's and the help's keys stay theirs. */
function isTyped(key: string): boolean {
  return [...key].length === 1 && key !== " " && key !== "/" && key !== "?";
}

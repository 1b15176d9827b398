/** Entries in lines, of which only those that are seen are drawn. The keyboard's place is one line, whatever has the focus. */
// biome-ignore-all lint/a11y/useSemanticElements: lines of a table can't be drawn one by one, at their places.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type MouseEvent, useEffect, useRef } from "react";
import { visibleLine } from "../../ui/visible-text.ts";
import { ColumnHeads } from "./ColumnHeads.tsx";
import { openMenu } from "./dialog.ts";
import classes from "./EntryGrid.module.css";
import { type Choosing, EntryRow } from "./EntryRow.tsx";
import { type Entry, isNamed, keyOf } from "./entries.ts";
import { nameOf } from "./paths.ts";
import { useActive } from "./use-active.ts";
import type { Chooser } from "./use-choice.ts";
import { useGridKeys } from "./use-grid-keys.ts";
import { useOpening } from "./use-opening.ts";

interface Props {
  readonly device: string;
  readonly path: string;
  readonly entries: readonly Entry[];
  readonly isSortable: boolean;
  readonly chooser: Chooser;
  /** Reads the next entries; absent: there are no more. */
  readonly readMore?: () => void;
}

/** Of a line, in pixels: a finger needs more room. */
const LINE = matchMedia("(pointer: coarse)").matches ? 48 : 38;
/** Lines before the end at which the next entries are read. */
const AHEAD = 400;

export function EntryGrid({ device, path, entries, isSortable, chooser, readMore }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const open = useOpening(device, path);
  const { active, setActive } = useActive(path, entries);
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE,
    overscan: 12,
    // The heads stand above the lines.
    scrollPaddingStart: LINE,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (readMore && last + AHEAD >= entries.length) readMore();
  }, [readMore, last, entries.length]);
  const { scrollToIndex } = virtual;
  const go = (index: number) => {
    setActive(index);
    scrollToIndex(index, { align: "auto" });
  };
  const first = useRef(active);
  useEffect(() => {
    if (first.current > 0) scrollToIndex(first.current, { align: "center" });
  }, [scrollToIndex]);
  const isChoosing = chooser.chosen.length > 0;
  const choose = (index: number, how: Choosing) => {
    setActive(index);
    if (how === "one") chooser.toggle(index);
    else chooser.extend(active, index);
  };
  const showMenu = (index: number, at?: { x: number; y: number }) => {
    const entry = entries[index];
    if (!entry) return;
    setActive(index);
    const box = document.getElementById(lineId(index))?.getBoundingClientRect();
    const isOfAll = chooser.has(entry) && chooser.chosen.length > 1;
    openMenu({
      ...{ device, folder: path, entries: isOfAll ? chooser.chosen : [entry] },
      ...(at ?? { x: (box?.left ?? 0) + 40, y: box?.bottom ?? 0 }),
      choose: isNamed(entry) && !chooser.has(entry) ? () => chooser.toggle(index) : undefined,
    });
  };
  const keys = useGridKeys({
    device,
    path,
    entries,
    active,
    go,
    open,
    showMenu,
    chooser,
    page: pageOf(scroller.current),
  });
  const askMenu = (event: MouseEvent) => {
    const line = event.target instanceof Element ? event.target.closest("[data-index]") : null;
    const isByKey = event.clientX === 0 && event.clientY === 0;
    const index = line && !isByKey ? Number(line.getAttribute("data-index")) : active;
    event.preventDefault();
    showMenu(index, line && !isByKey ? { x: event.clientX, y: event.clientY } : undefined);
  };
  return (
    <div
      ref={scroller}
      role="grid"
      aria-label={`In ${visibleLine(nameOf(path))}`}
      aria-rowcount={entries.length + 1}
      aria-multiselectable
      data-choosing={isChoosing}
      aria-activedescendant={items.some(({ index }) => index === active) ? lineId(active) : undefined}
      tabIndex={0}
      className={classes.grid}
      onKeyDown={keys}
      onContextMenu={askMenu}
    >
      <ColumnHeads isSortable={isSortable} />
      <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {items.map(({ index, start, size }) => {
          const entry = entries[index];
          return (
            entry && (
              <EntryRow
                key={keyOf(entry)}
                {...{ entry, index, start, size, id: lineId(index), isChoosing }}
                isActive={index === active}
                isChosen={chooser.has(entry)}
                choose={isNamed(entry) ? (how) => choose(index, how) : undefined}
                open={() => {
                  setActive(index);
                  open(entry);
                }}
                showMenu={(at) => showMenu(index, at)}
              />
            )
          );
        })}
      </div>
    </div>
  );
}

function lineId(index: number): string {
  return `line-${index}`;
}

/** Lines on the screen. */
function pageOf(box: HTMLElement | null): number {
  return Math.max(1, Math.floor((box?.clientHeight ?? 0) / LINE) - 2);
}

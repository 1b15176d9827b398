/** The heads of the columns, which sort by them. */
// biome-ignore-all lint/a11y/useSemanticElements: lines of a table can't be drawn one by one, at their places.
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and names its active line.
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import classes from "./EntryGrid.module.css";
import { COLUMNS, type Column } from "./order.ts";
import { changeView, useView } from "./view.ts";

const WORDS: Readonly<Record<Column, string>> = { name: "Name", size: "Size", changed: "Changed" };

export function ColumnHeads({ isSortable }: { isSortable: boolean }) {
  const order = useView((view) => view.order);
  const by = isSortable ? order : ({ by: "name", isDown: false } as const);
  const Arrow = by.isDown ? IconArrowDown : IconArrowUp;
  return (
    <div role="row" className={classes.heads} aria-rowindex={1}>
      {COLUMNS.map((column) => (
        <div
          key={column}
          role="columnheader"
          className={classes[column]}
          aria-sort={by.by === column ? (by.isDown ? "descending" : "ascending") : "none"}
        >
          <button
            type="button"
            className={classes.head}
            disabled={!isSortable}
            onClick={() => changeView({ order: { by: column, isDown: by.by === column && !by.isDown } })}
          >
            {WORDS[column]}
            {by.by === column && <Arrow size={14} aria-hidden />}
          </button>
        </div>
      ))}
      <div role="columnheader" className={classes.more}>
        <span className={classes.unseen}>Actions</span>
      </div>
    </div>
  );
}

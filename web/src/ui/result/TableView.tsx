/** Rows as a table, which can be sorted by each of its columns. */
import { Button } from "@mantine/core";
import { useMemo, useState } from "react";
import { scrolled } from "../scrolled.ts";
import { visibleLine } from "../visible-text.ts";
import { cellText, compareCells, type Rows } from "./rows.ts";
import { type Order, SortHead } from "./SortHead.tsx";
import classes from "./TableView.module.css";

/** Rows that are shown at first, and added at a time. */
const SHOWN = 200;
/** A longer cell is broken into lines, in characters. */
const ON_A_LINE = 40;

export function TableView({ rows: { columns, rows } }: { rows: Rows }) {
  const [order, setOrder] = useState<Order>();
  const [shown, setShown] = useState(SHOWN);
  const sorted = useMemo(() => inOrder(rows, order), [rows, order]);
  const rest = rows.length - shown;
  return (
    <div>
      <div className={classes.box} {...scrolled("Table")}>
        <table className={classes.table}>
          <thead>
            <tr>
              {columns.map((column) => (
                <SortHead
                  key={column}
                  column={column}
                  label={visibleLine(column.slice(0, 100))}
                  isNumber={typeof rows[0]?.[column] === "number"}
                  order={order}
                  sort={setOrder}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, shown).map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name of their own
              <tr key={at}>
                {columns.map((column) => (
                  <Cell key={column} value={row[column]} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rest > 0 && (
        <Button size="xs" mt="xs" variant="default" onClick={() => setShown(shown + SHOWN)}>
          Show {Math.min(rest, SHOWN)} more rows of {rest.toLocaleString("en")}
        </Button>
      )}
    </div>
  );
}

function Cell({ value }: { value: unknown }) {
  const text = cellText(value);
  return (
    <td data-number={typeof value === "number"} data-long={text.length > ON_A_LINE}>
      <bdi>{visibleLine(text)}</bdi>
    </td>
  );
}

function inOrder(rows: Rows["rows"], order: Order | undefined): Rows["rows"] {
  if (!order) return rows;
  const { column, isDown } = order;
  const sorted = rows.toSorted((one, other) => compareCells(one[column], other[column]));
  return isDown ? sorted.reverse() : sorted;
}

/** Arrays of objects as a table: its columns, and what stands in a cell. */

export type Row = Readonly<Record<string, unknown>>;

export interface Rows {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

/** Rows that are looked at for columns, and columns that are shown. */
const LOOKED_AT = 1_000;
const MOST_COLUMNS = 30;
/** Characters of a cell. */
const CELL = 500;

/** The rows of a value: itself an array of objects, or an object with one such array in it; undefined: neither. */
export function rowsIn(value: unknown): Rows | undefined {
  if (isRows(value)) return { columns: columnsOf(value), rows: value };
  if (!isRow(value)) return undefined;
  const found = Object.values(value).filter(isRows);
  const [rows] = found;
  return rows && found.length === 1 ? { columns: columnsOf(rows), rows } : undefined;
}

/** A cell as a short text. */
export function cellText(value: unknown): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text.length > CELL ? `${text.slice(0, CELL)}…` : text;
}

/** Numbers by size, all else as text; what is missing comes last. */
export function compareCells(one: unknown, other: unknown): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  const [a, b] = [cellText(one), cellText(other)];
  if (a === "" || b === "") return Number(a === "") - Number(b === "");
  return a.localeCompare(b, undefined, { numeric: true });
}

function isRows(value: unknown): value is readonly Row[] {
  return Array.isArray(value) && value.length > 0 && value.every(isRow);
}

function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function columnsOf(rows: readonly Row[]): string[] {
  const names = new Set(rows.slice(0, LOOKED_AT).flatMap((row) => Object.keys(row).slice(0, MOST_COLUMNS)));
  return [...names].slice(0, MOST_COLUMNS);
}

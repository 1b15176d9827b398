/** Entries as they are stored: each as JSON on a line of its own, those that came together in one row. */
import type { AuditFilter, AuditQuery } from "@matrx/shared/audit.ts";
import type { Sql } from "../storage/watched.ts";

/** Entries as JSON, so that they are passed on without being parsed. */
export interface Page {
  entries: string[];
  next: number | null;
}

/** A page looks at so many entries, also if few of them fit a filter. */
const LOOKED_MAX = 5000;

/** Some entries: after an entry, the oldest first; otherwise the newest first. */
export function pageOf(sql: Sql, { after, before, limit, ...filter }: AuditQuery): Page {
  const entries: string[] = [];
  let looked = 0;
  for (const { seq, line, entry } of after === undefined ? newest(sql, before) : oldest(sql, after)) {
    if (fits(entry, filter)) entries.push(line);
    if (entries.length === limit || ++looked === LOOKED_MAX) return { entries, next: seq };
  }
  return { entries, next: null };
}

/** What a line says; nothing if somebody damaged it. */
export function entryOf(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return {};
  }
}

interface Found {
  readonly seq: number;
  readonly line: string;
  readonly entry: Record<string, unknown>;
}

interface Row extends Record<string, SqlStorageValue> {
  first: number;
  lines: string;
}

function* oldest(sql: Sql, after: number): Generator<Found> {
  const rows = sql.exec<Row>("SELECT first, lines FROM entries WHERE last > ? ORDER BY first", after);
  for (const row of rows) for (const found of foundIn(row)) if (found.seq > after) yield found;
}

function* newest(sql: Sql, before = Number.MAX_SAFE_INTEGER): Generator<Found> {
  const rows = sql.exec<Row>("SELECT first, lines FROM entries WHERE first < ? ORDER BY first DESC", before);
  for (const row of rows) for (const found of foundIn(row).reverse()) if (found.seq < before) yield found;
}

/** An entry says its own number, so that one that is missing does not shift the others. */
function foundIn({ first, lines }: Row): Found[] {
  return lines.split("\n").map((line, index) => {
    const entry = entryOf(line);
    return { seq: typeof entry.seq === "number" ? entry.seq : first + index, line, entry };
  });
}

/** A grant's entries are those that it caused and those about it. */
function fits(entry: Record<string, unknown>, { device, grant, type }: AuditFilter): boolean {
  if (device !== undefined && entry.device !== device) return false;
  if (type !== undefined && entry.type !== type) return false;
  if (grant === undefined) return true;
  const by = entry.by as { grant?: unknown } | undefined;
  return entry.grant === grant || by?.grant === grant;
}

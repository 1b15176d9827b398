/** The ways in which the text of an answer can be looked at, and which one says most. */
import { hasDiff } from "./diff.ts";
import { type Rows, rowsIn } from "./rows.ts";

export type ViewKind = "text" | "diff" | "table" | "json";

export interface Looked {
  readonly output: string;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** The result as data, if it is not `metadata`. */
  readonly structured?: unknown;
}

export interface Views {
  /** At least one. */
  readonly kinds: readonly ViewKind[];
  readonly best: ViewKind;
  readonly rows: Rows | undefined;
  /** What the JSON view shows. */
  readonly data: unknown;
}

/** A longer text is not taken for JSON, in characters. */
const MOST_PARSED = 8_000_000;
/** Lines of JSON, one value each. */
const MOST_LINES = 20_000;

export function viewsOf({ output, metadata, structured }: Looked): Views {
  const data = parsed(output) ?? structured;
  const hasData = data !== undefined;
  const rows = rowsIn(data) ?? rowsIn(metadata);
  const isDiff = !hasData && hasDiff(output);
  const kinds: ViewKind[] = [];
  if (output !== "" || (!rows && !hasData)) kinds.push("text");
  if (isDiff) kinds.push("diff");
  if (rows) kinds.push("table");
  if (hasData) kinds.push("json");
  return { kinds, best: bestOf(isDiff, rows !== undefined, hasData), rows, data };
}

function bestOf(isDiff: boolean, hasRows: boolean, hasData: boolean): ViewKind {
  if (isDiff) return "diff";
  if (hasRows) return "table";
  return hasData ? "json" : "text";
}

/** An object or array that a text is, or one object in each line; a single number or word is only text. */
function parsed(text: string): object | undefined {
  if (text.length > MOST_PARSED || !/^\s*[[{]/.test(text)) return undefined;
  return parsedWhole(text) ?? parsedLines(text);
}

function parsedWhole(text: string): object | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parsedLines(text: string): object[] | undefined {
  const lines = text.trim().split("\n");
  if (lines.length < 2 || lines.length > MOST_LINES) return undefined;
  const values: object[] = [];
  for (const line of lines) {
    const value = line.trimStart().startsWith("{") ? parsedWhole(line) : undefined;
    if (!value) return undefined;
    values.push(value);
  }
  return values;
}

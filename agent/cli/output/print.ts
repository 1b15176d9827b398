/** Prints text for people and JSON for programs. */
import { stripVTControlCharacters, styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

/** Colours a text if the stream is a terminal and `NO_COLOR` is not set. */
export function styled(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText(style, text, { stream });
}

let isQuiet = false;

/** `--quiet`: results and errors only. */
export function beQuiet(): void {
  isQuiet = true;
}

export function isQuietRun(): boolean {
  return isQuiet;
}

/** Prints something that is not the result: on stderr, and not with `--quiet`. */
export function note(text: string): void {
  if (!isQuiet) console.error(styled("dim", text, process.stderr));
}

export function printJson(value: unknown): void {
  console.log(jsonText(value, process.stdout.isTTY ? 2 : undefined));
}

/** Prints one JSON object on one line. */
export function printJsonLine(value: unknown): void {
  console.log(jsonText(value));
}

/** JSON that is safe on a terminal: control and bidirectional characters are escaped. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(
    /[\u007f-\u009f\p{Bidi_Control}]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Prints columns under a header. Cells may come from outside. */
export function printTable(header: readonly string[], cells: readonly (readonly string[])[]): void {
  const rows = cells.map((row) => row.map(oneLine));
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  console.log(styled("dim", line(header)));
  for (const row of rows) console.log(line(row));
}

/** `3 min ago` */
export function ago(iso: string | null): string {
  if (iso === null) return "never";
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(iso)) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86_400)} days ago`;
}

/** Of a device: conditions that it reported, or the relay, and that are not over. */
export function openAlerts(count: number): string {
  return count === 1 ? "1 open alert" : `${count} open alerts`;
}

/** Text from outside, without characters that could overwrite the terminal or reorder the line. */
export function plain(text: string): string {
  return withoutControls(text).replace(/\p{Bidi_Control}/gu, "\u{fffd}");
}

/** As `plain`, on one line, so that a line break cannot fake another entry. */
export function oneLine(text: string): string {
  return plain(text).replace(/[\t\n\u2028\u2029]+/g, " ");
}

/** A tool's output for this stream: without control sequences on a terminal, unchanged in a pipe or file. */
export function toolOutput(text: string, stream: NodeJS.WriteStream): string {
  if (!stream.isTTY) return text;
  // Text that was overwritten in its line is shown too.
  const lines = stripVTControlCharacters(text).replace(/\r+\n?/g, "\n");
  // Keeps direction marks that do not reorder other characters: Arabic and Hebrew text needs them.
  return withoutControls(lines).replace(/[\u202a-\u202e\u2066-\u2069]/g, "\u{fffd}");
}

function withoutControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "\u{fffd}");
}

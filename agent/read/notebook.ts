/** Shows a Jupyter notebook (nbformat 4) as its cells with their outputs. */
import { isDeeper } from "@matrx/shared/json-input.ts";
import * as z from "zod";
import { withoutMisleading } from "../text/display-name.ts";
import { plainOutput } from "../text/plain-output.ts";

/** One string, or a list of lines. */
const text = z.union([z.string(), z.array(z.string()).transform((lines) => lines.join(""))]);

const outputSchema = z.discriminatedUnion("output_type", [
  z.object({ output_type: z.literal("stream"), text }),
  z.object({
    output_type: z.enum(["execute_result", "display_data"]),
    data: z.record(z.string(), z.unknown()),
  }),
  z.object({
    output_type: z.literal("error"),
    ename: z.string(),
    evalue: z.string(),
    traceback: z.array(z.string()),
  }),
]);

const notebookSchema = z.object({
  nbformat: z.number().min(4),
  cells: z.array(
    z.object({
      cell_type: z.string(),
      source: text,
      execution_count: z.number().nullish(),
      outputs: z.array(outputSchema).optional(),
    }),
  ),
});

type Cell = z.infer<typeof notebookSchema>["cells"][number];
type Output = z.infer<typeof outputSchema>;

/** A cell's text, or one of its outputs. */
export interface Block {
  /** The line above it. */
  readonly head: string;
  /** Below that; undefined if nothing is shown there. */
  readonly content: string | undefined;
  /** The cell whose text it is, from 0; undefined for outputs. */
  readonly cell?: number;
  /** The cell's text, with the last line end, which `content` leaves out. */
  readonly source?: string;
}

export interface Notebook {
  readonly cells: number;
  readonly blocks: readonly Block[];
  readonly text: string;
}

/** What is between two blocks. */
export const BETWEEN_BLOCKS = "\n\n";

export function isNotebookPath(path: string): boolean {
  return /\.ipynb$/i.test(path);
}

/** Larger notebooks are shown as JSON; in bytes. Pictures take up most of it. */
export const NOTEBOOK_MAX_BYTES = 16 * 1024 * 1024;
/** Limit on nesting: parsing JSON with millions of levels would block everything for seconds. */
const DEEPEST = 256;
/** How many characters of a cell's or an output's type are shown. */
const NAME_CHARS = 100;
/** How many characters of an output are shown. */
const OUTPUT_CHARS = 10_000;

/** Undefined if it is not a notebook of a known format. */
export function notebookOf(bytes: Buffer): Notebook | undefined {
  const parsed = notebookSchema.safeParse(jsonOf(bytes));
  if (!parsed.success) return undefined;
  const { cells } = parsed.data;
  const blocks = cells.flatMap(blocksOf);
  return { cells: cells.length, blocks, text: blocks.map(shownBlock).join(BETWEEN_BLOCKS) };
}

function shownBlock({ head, content }: Block): string {
  return content === undefined ? head : `${head}\n${content}`;
}

function jsonOf(bytes: Buffer): unknown {
  const text = bytes.toString("utf8").replace(/^\ufeff/, "");
  if (isDeeper(text, DEEPEST)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function blocksOf({ cell_type, source, execution_count, outputs = [] }: Cell, cell: number): Block[] {
  const number = cell + 1;
  const run = execution_count == null ? "" : `, run ${execution_count}`;
  const own = { ...block(`Cell ${number}: ${cut(cell_type)}${run}`, source), cell, source };
  return [own, ...outputs.flatMap((output) => outputBlocks(output, `Output of cell ${number}`))];
}

function block(head: string, content: string): Block {
  return { head: mark(head), content: content === "" ? undefined : content.replace(/\n$/, "") };
}

/** One line, whatever names the file contains. */
function mark(head: string): string {
  return `[${withoutMisleading(head)}]`;
}

function cut(name: string): string {
  return name.slice(0, NAME_CHARS).toWellFormed();
}

function outputBlocks(output: Output, head: string): Block[] {
  if (output.output_type === "stream") return [block(head, shown(output.text))];
  if (output.output_type === "error") {
    const words = output.traceback.join("\n") || `${output.ename}: ${output.evalue}`;
    return [block(`${head}: error`, shown(words))];
  }
  return dataBlocks(output.data, head);
}

/** Of several representations of an output, the first of these is shown. */
const TEXT_TYPES = ["text/plain", "text/markdown", "text/latex", "application/json", "text/html"];

function dataBlocks(data: Readonly<Record<string, unknown>>, head: string): Block[] {
  const type = TEXT_TYPES.find((one) => data[one] !== undefined);
  const others = Object.keys(data).filter((one) => one.startsWith("image/") || type === undefined);
  return [
    ...(type === undefined ? [] : [block(head, shown(asText(data[type])))]),
    ...others.map((one) =>
      block(`${head}: ${cut(one)}, ${asText(data[one]).length} characters, not shown`, ""),
    ),
  ];
}

function asText(value: unknown): string {
  const parsed = text.safeParse(value);
  return parsed.success ? parsed.data : JSON.stringify(value);
}

function shown(output: string): string {
  const { text: plain } = plainOutput(output);
  if (plain.length <= OUTPUT_CHARS) return plain;
  const left = plain.length - OUTPUT_CHARS;
  return `${plain.slice(0, OUTPUT_CHARS).toWellFormed()}\n[${left} more characters of this output are not shown]`;
}

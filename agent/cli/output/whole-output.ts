/** All of a call's output, byte for byte and nothing else, for a pipe or a file. */

import type { RelayClient } from "@matrx/client/http/relay-client.ts";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import * as z from "zod";
import { JobReader } from "./job-output.ts";
import { note } from "./print.ts";

/** A call that has ended, and what is needed to read more. */
export interface EndedCall {
  readonly client: RelayClient;
  readonly device: string;
  readonly tool: string;
  readonly answer: Answer;
  /** Bytes of the command's output that are already written. */
  readonly from: number;
  /** Whether pages are base64. */
  readonly isBase64: boolean;
  /** Makes the same call for another page; undefined if only one page is wanted. */
  readonly nextPage: ((cursor: Record<string, unknown>) => Promise<Answer>) | undefined;
}

const jobSchema = z.looseObject({
  bash_id: z.string(),
  status: z.string(),
  start_offset: z.literal(0),
  end_offset: z.number(),
});

/** The name of the next page's cursor in the metadata, and the parameter that takes it. */
const CURSORS = [
  ["next_offset", "offset"],
  ["next_after", "after"],
  ["next_byte_offset", "byte_offset"],
] as const;

/** Parameters with which a caller asks for a certain page. */
const ASKS_FOR_PAGE = ["limit", "max_results", "byte_limit", "offset", "after", "byte_offset"];

/** Part of the output is lost. */
export class OutputLost extends Error {}

/** All of the output, in order. Throws MatrxError, or OutputLost. */
export async function* wholeOutput(ended: EndedCall): AsyncGenerator<Uint8Array | string> {
  const { answer, tool, from } = ended;
  const job = tool === "Bash" ? jobSchema.safeParse(answer.metadata).data : undefined;
  if (job) return yield* commandOutput(ended, job);
  if (answer.type === "error") return;
  if (answer.image) return yield Buffer.from(answer.image.base64_data, "base64");
  if (from === 0) yield* pages(ended);
}

/** Whether the caller asked for a certain page. */
export function asksForPage(input: Record<string, unknown>): boolean {
  return ASKS_FOR_PAGE.some((name) => name in input);
}

/** Whether the file itself is wanted (`Read` with `raw`): then its bytes are requested, not its text. */
export function wantsFile(tool: string, input: Record<string, unknown>): boolean {
  return tool === "Read" && input.raw === true && input.encoding === undefined && !asksForPage(input);
}

/** Parameters that request a file's bytes. */
export const FILE_BYTES = { encoding: "base64", byte_limit: 1024 * 1024 } as const;

async function* commandOutput(
  { client, device, answer, from }: EndedCall,
  { bash_id, end_offset, status }: z.infer<typeof jobSchema>,
): AsyncGenerator<Uint8Array> {
  const bytes = textBytes(answer, end_offset);
  if (bytes) return yield bytes.subarray(from);
  if (status === "running") note(`${bash_id} is still running, in the background now`);
  const reader = new JobReader(client, device, bash_id);
  for (let offset = from; offset < end_offset; ) {
    const page = await reader.read(offset, 0);
    if (page.lost > 0) throw new OutputLost(`${page.lost} bytes of output were cut on the device`);
    yield page.bytes.subarray(0, end_offset - offset);
    if (!page.isExact) throw new OutputLost(INEXACT);
    if (page.end === offset) throw new OutputLost("the rest of the output is gone from the device");
    offset = page.end;
  }
}

/** A command's output, if the answer's text has exactly that; undefined if it must be read from the log. */
export function textBytes({ type, output }: Answer, length: number): Buffer | undefined {
  if (type === "error" || output.includes("\u{fffd}")) return undefined;
  const bytes = Buffer.from(output.replace(/\[Exit code \d+\]$/, ""));
  // The note is on its own line.
  const isCut = bytes.length === length + 1 && bytes.at(-1) === 10 && output.endsWith("]");
  return bytes.length === length || isCut ? bytes.subarray(0, length) : undefined;
}

export const INEXACT = "bytes that are not UTF-8 were replaced: the device's agent is an earlier release";

async function* pages({ tool, answer, isBase64, nextPage }: EndedCall): AsyncGenerator<Uint8Array | string> {
  for (let page = answer; ; ) {
    const cursor = nextPage && cursorOf(page);
    if (isBase64) yield Buffer.from(page.output, "base64");
    else yield withNewline(cursor ? withoutNotes(page.output, tool) : page.output);
    if (!cursor) return;
    page = await nextPage(cursor);
  }
}

function cursorOf({ metadata }: Answer): Record<string, unknown> | undefined {
  for (const [name, parameter] of CURSORS) {
    const value = metadata?.[name];
    if (value !== undefined) return { [parameter]: value };
  }
  return undefined;
}

/** Removes the note on how to continue; and others of `Read`, where no line of the file's begins like one. */
function withoutNotes(output: string, tool: string): string {
  if (tool === "Read") return output.replace(/\n(?:\n\[[^\n]*\])+$/, "");
  return output.replace(/\n{0,2}\[[^\n]*\]$/, "");
}

function withNewline(output: string): string {
  return output === "" || output.endsWith("\n") ? output : `${output}\n`;
}

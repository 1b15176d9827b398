/** What a pipe or a file gets of a call: all of its output, byte for byte, and nothing else. */
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import * as z from "zod";
import { JobReader } from "../client/job-output.ts";
import type { RelayClient } from "../client/relay-client.ts";
import { note } from "./print.ts";

/** A call that ended, and what is needed to read on. */
export interface EndedCall {
  readonly client: RelayClient;
  readonly device: string;
  readonly tool: string;
  readonly answer: Answer;
  /** Bytes of the command's output that were written already. */
  readonly from: number;
  /** Each page is base64 of what is wanted. */
  readonly isBase64: boolean;
  /** Makes the same call for another page; undefined: one page is wanted. */
  readonly nextPage: ((cursor: Record<string, unknown>) => Promise<Answer>) | undefined;
}

const jobSchema = z.looseObject({
  bash_id: z.string(),
  status: z.string(),
  start_offset: z.literal(0),
  end_offset: z.number(),
});

/** In the metadata of a page, the cursor of the next one; and the parameter that takes it. */
const CURSORS = [
  ["next_offset", "offset"],
  ["next_after", "after"],
  ["next_byte_offset", "byte_offset"],
] as const;

/** Parameters by which a caller asks for one page itself. */
const ASKS_FOR_PAGE = ["limit", "max_results", "byte_limit", "offset", "after", "byte_offset"];

/** Output that could not be had whole. */
export class OutputLost extends Error {}

/** All of the output, in order. Throws MatrxError, or OutputLost when something of it is gone. */
export async function* wholeOutput(ended: EndedCall): AsyncGenerator<Uint8Array | string> {
  const { answer, tool, from } = ended;
  const job = tool === "Bash" ? jobSchema.safeParse(answer.metadata).data : undefined;
  if (job) return yield* commandOutput(ended, job);
  if (answer.type === "error") return;
  if (answer.image) return yield Buffer.from(answer.image.base64_data, "base64");
  if (from === 0) yield* pages(ended);
}

/** A caller who names a page wants that one. */
export function asksForPage(input: Record<string, unknown>): boolean {
  return ASKS_FOR_PAGE.some((name) => name in input);
}

/** Read with `raw` means the file as it is: not its text, but its bytes are asked for. */
export function wantsFile(tool: string, input: Record<string, unknown>): boolean {
  return tool === "Read" && input.raw === true && input.encoding === undefined && !asksForPage(input);
}

/** What asks for a file's bytes. */
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

/** What a command wrote, if the text of its answer holds exactly that; undefined: it is to be read from its log. */
export function textBytes({ type, output }: Answer, length: number): Buffer | undefined {
  if (type === "error" || output.includes("\u{fffd}")) return undefined;
  const bytes = Buffer.from(output.replace(/\[Exit code \d+\]$/, ""));
  // The note stands on a line of its own.
  const isCut = bytes.length === length + 1 && bytes.at(-1) === 10 && output.endsWith("]");
  return bytes.length === length || isCut ? bytes.subarray(0, length) : undefined;
}

export const INEXACT = "bytes that are not UTF-8 were replaced: the device's agent is an earlier release";

async function* pages({ answer, isBase64, nextPage }: EndedCall): AsyncGenerator<Uint8Array | string> {
  for (let page = answer; ; ) {
    const cursor = nextPage && cursorOf(page);
    if (isBase64) yield Buffer.from(page.output, "base64");
    else yield withNewline(cursor ? withoutLastNote(page.output) : page.output);
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

/** Tells how to go on, which was done. */
function withoutLastNote(output: string): string {
  return output.replace(/\n{0,2}\[[^\n]*\]$/, "");
}

function withNewline(output: string): string {
  return output === "" || output.endsWith("\n") ? output : `${output}\n`;
}

/** Text from a log that fits into an answer: the whole log, or its beginning and end. */
import { withoutPart } from "../text/sniff.ts";
import type { JobLog } from "./log.ts";

/** UTF-16 units of output in one answer. */
export const ANSWER_CHARS = 30_000;
const HEAD_SHARE = 0.2;

export interface Excerpt {
  readonly text: string;
  /** The range left out, in bytes; undefined if nothing is. */
  readonly left: { readonly from: number; readonly to: number } | undefined;
}

/** The end of the last complete character in a log that is still being written. */
export async function wholeEnd(log: JobLog): Promise<number> {
  const size = await log.size();
  const last = await readRange(log, Math.max(0, size - 3), size);
  return size - (last.length - withoutPart(last).length);
}

/** A log up to `end`: all of it, or 20 % of the room for its beginning and 80 % for its end. */
export async function excerptOf(
  log: JobLog,
  end: number,
  note: (from: number, to: number) => string,
): Promise<Excerpt> {
  // One unit takes three bytes of UTF-8 at most.
  if (end <= ANSWER_CHARS * 3) {
    const bytes = await readRange(log, 0, end);
    const text = bytes.toString("utf8");
    if (text.length <= ANSWER_CHARS) return { text, left: undefined };
  }
  const headChars = Math.floor(ANSWER_CHARS * HEAD_SHARE);
  const head = firstChars(await readRange(log, 0, headChars * 3), headChars);
  const tailChars = ANSWER_CHARS - headChars;
  const tailFrom = Math.max(head.length, end - tailChars * 3);
  const tail = lastChars(await readRange(log, tailFrom, end), tailChars);
  const left = { from: head.length, to: end - tail.length };
  const text = `${head.toString("utf8")}\n[${note(left.from, left.to)}]\n${tail.toString("utf8")}`;
  return { text, left };
}

/** The bytes of a range, as far as they are still kept. */
async function readRange(log: JobLog, from: number, to: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let offset = from; offset < to; ) {
    const part = await log.read(offset, to - offset);
    if (part.bytes.length === 0) break;
    parts.push(part.bytes);
    offset = part.offset + part.bytes.length;
  }
  return Buffer.concat(parts);
}

/** The first bytes that make at most so many UTF-16 units; to the end of a line if one is near. */
export function firstChars(bytes: Buffer, chars: number): Buffer {
  let units = 0;
  let at = 0;
  while (at < bytes.length) {
    const { length, units: more } = characterAt(bytes, at);
    if (units + more > chars) break;
    units += more;
    at += length;
  }
  if (at >= bytes.length) return bytes;
  const whole = withoutPart(bytes.subarray(0, at));
  const line = whole.lastIndexOf(10);
  return line > whole.length * 0.7 ? whole.subarray(0, line + 1) : whole;
}

/** The last bytes that make at most so many UTF-16 units; from the start of a line if one is near. */
export function lastChars(bytes: Buffer, chars: number): Buffer {
  let units = 0;
  let at = bytes.length;
  while (at > 0) {
    let start = at - 1;
    while (start > at - 4 && start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
    const more = at - start === 4 ? 2 : 1;
    if (units + more > chars) break;
    units += more;
    at = start;
  }
  const part = bytes.subarray(at);
  const line = part.indexOf(10);
  return line !== -1 && line < part.length * 0.3 && at > 0 ? part.subarray(line + 1) : part;
}

function characterAt(bytes: Buffer, at: number): { length: number; units: number } {
  const byte = bytes[at] ?? 0;
  if (byte < 0xc0) return { length: 1, units: 1 };
  if (byte < 0xe0) return { length: 2, units: 1 };
  return byte < 0xf0 ? { length: 3, units: 1 } : { length: 4, units: 2 };
}

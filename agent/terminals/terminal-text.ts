/** What a command wrote to a terminal, as plain text that fits into an answer. */
import { ANSWER_CHARS, firstChars, lastChars } from "../jobs/excerpt.ts";
import { plainOutput } from "../text/plain-output.ts";
import type { Kept } from "./command-output.ts";

const HEAD_SHARE = 0.2;
/** What zsh draws before a prompt to show whether the output ended with a new line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is a terminal's
const END_MARK = /(?:\u001b\[[0-9;]*m)+[^\u001b]{1,4}(?:\u001b\[[0-9;]*m)+ +\r \r$/;

export function terminalText({ head, left, tail }: Kept): string {
  const whole = plain(Buffer.concat([head, tail]));
  if (left === 0 && whole.length <= ANSWER_CHARS) return whole;
  const headChars = Math.floor(ANSWER_CHARS * HEAD_SHARE);
  const first = firstChars(Buffer.from(left === 0 ? whole : plain(head)), headChars);
  const rest = Buffer.from(left === 0 ? whole.slice(first.toString().length) : plain(tail));
  const last = lastChars(rest, ANSWER_CHARS - headChars);
  return `${first.toString()}\n[${left + rest.length - last.length} bytes are left out here]\n${last.toString()}`;
}

/** A screen without the blanks with which programs fill its lines. */
export function screenText(text: string): string {
  return text.replace(/ +$/gm, "").trimEnd();
}

function plain(bytes: Buffer): string {
  return plainOutput(bytes.toString("utf8").replace(END_MARK, "")).text.replaceAll("\r\n", "\n");
}

/** A long message of a tool: its first line says what went wrong, the rest is output. */

/** A longer line is output itself, in characters. */
const MOST = 600;

export interface Message {
  readonly first: string;
  /** Empty: there is no more. */
  readonly rest: string;
}

export function firstLineOf(message: string): Message {
  const end = message.indexOf("\n");
  const first = end < 0 ? message : message.slice(0, end);
  if (first.length > MOST) return { first: `${first.slice(0, MOST)}…`, rest: message };
  return { first, rest: end < 0 ? "" : message.slice(end + 1) };
}

/** Reads JSON-RPC messages, one a line, from a program that may write anything. */
import { type JSONRPCMessage, parseJSONRPCMessage } from "@modelcontextprotocol/client";

/** A longer line is passed over, and its call answered with an error. More than any result that is passed on. */
export const MESSAGE_BYTES = 16 * 1024 * 1024;
/** The JSON-RPC error code of such an answer. */
export const TOO_LARGE = -32_090;
/** What is kept of a line that is too long: its ends, of which one has the id. */
const KEPT = 4096;
/** A line that is longer than this has no end. */
const LINE_BYTES = 4 * MESSAGE_BYTES;
/** So much that is no message, without a message between, is no slip any more. */
const GARBAGE_BYTES = 8 * 1024 * 1024;

export interface Reading {
  /** A line that is no message. */
  readonly onGarbage: (line: string) => void;
  /** It writes nothing but garbage, or something too large that answers no call: what comes is of no use. */
  readonly onUseless: (why: string) => void;
}

export class MessageReader {
  readonly #reading: Reading;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #garbage = 0;
  #messages: JSONRPCMessage[] = [];

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  /** The messages that end in this piece. */
  read(chunk: Buffer): JSONRPCMessage[] {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      this.#add(chunk.subarray(from, end));
      this.#line();
      from = end + 1;
    }
    if (from < chunk.length) this.#add(chunk.subarray(from));
    const messages = this.#messages;
    this.#messages = [];
    return messages;
  }

  #add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes <= MESSAGE_BYTES) return;
    if (this.#bytes > LINE_BYTES) this.#reading.onUseless("it writes a line without end");
    const [first = Buffer.alloc(0)] = this.#pieces;
    const head = this.#pieces.length === 1 ? first.subarray(0, KEPT) : first;
    const tail = Buffer.concat(this.#pieces.slice(-2)).subarray(-KEPT);
    // Copied, so that the whole is not held by its ends.
    this.#pieces = [Buffer.from(head.subarray(0, KEPT)), Buffer.from(tail)];
  }

  #line(): void {
    const bytes = this.#bytes;
    const line = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#bytes = 0;
    if (bytes > MESSAGE_BYTES) return this.#tooLong(line.toString("latin1"));
    const text = line.toString().trim();
    if (text === "") return;
    // Not every line of a log is worth an attempt to parse it.
    const message = text.startsWith("{") ? messageIn(text) : undefined;
    if (!message) return this.#isGarbage(text, bytes);
    this.#garbage = 0;
    this.#messages.push(message);
  }

  /** Answers the call that the line was for: its id is at one of the ends, wherever the server's library puts it. */
  #tooLong(ends: string): void {
    const id =
      /^\s*\{\s*(?:"jsonrpc":\s*"2\.0",\s*)?"id":\s*(\d+)\s*,/.exec(ends) ??
      /"id":\s*(\d+)\s*(?:,\s*"jsonrpc":\s*"2\.0"\s*)?\}\s*$/.exec(ends);
    if (!id) return this.#reading.onUseless("it sent a message that is too large");
    const error = { code: TOO_LARGE, message: `The result is larger than ${MESSAGE_BYTES} bytes` };
    this.#messages.push({ jsonrpc: "2.0", id: Number(id[1]), error });
  }

  #isGarbage(text: string, bytes: number): void {
    this.#garbage += bytes + 1;
    if (this.#garbage > GARBAGE_BYTES) this.#reading.onUseless("it writes no messages, but other things");
    else this.#reading.onGarbage(text);
  }
}

function messageIn(text: string): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(JSON.parse(text));
  } catch {
    return undefined;
  }
}

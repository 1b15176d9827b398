/** Whoever reads stdout: waits while they are slower, and ends the command's work when they are gone. */
import { once } from "node:events";
import type { Writable } from "node:stream";
import { IO_ERROR } from "./failure.ts";
import { styled } from "./print.ts";

let hasReader = true;
let stopWork: (() => void) | undefined;

/** Handles errors of stdout: ends the command when the reader is gone; reports a full disk once, also by the exit code. */
export function watchOutput(): void {
  let isReported = false;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (isReported) return;
    isReported = true;
    if (error.code === "EPIPE") {
      hasReader = false;
      // `matrx tools laptop | head` is not a failure.
      return stopWork ? stopWork() : process.exit(0);
    }
    console.error(`${styled("red", "Error:", process.stderr)} The output cannot be written (${error.code})`);
    console.error("What was printed so far is incomplete. Free some space, or write to another place");
    process.once("exit", () => {
      process.exitCode ||= IO_ERROR;
    });
  });
  // The reader of stderr may go away too.
  process.stderr.on("error", () => undefined);
}

/** When the reader is gone, calls `stop` instead of ending the process. */
export function endWithReader(stop: () => void): void {
  stopWork = stop;
}

/** Whether nobody reads stdout any more. */
export function isReaderGone(): boolean {
  return !hasReader;
}

/** Nobody reads stdout any more. */
export class ReaderGone extends Error {}

/** Waits while the reader is slower. Throws ReaderGone. */
export async function write(to: Writable, piece: Uint8Array | string): Promise<void> {
  try {
    if (!to.write(piece)) await once(to, "drain");
  } catch (error) {
    if (to === process.stdout && isReaderGone()) throw new ReaderGone();
    throw error;
  }
}

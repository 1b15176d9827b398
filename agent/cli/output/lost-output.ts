/** What becomes of a command whose output nobody takes. */
import { IO_ERROR } from "./failure.ts";
import { styled } from "./print.ts";

let hasReader = true;
let stopWork: (() => void) | undefined;

/** A reader that goes ends the command, at once or by `endWithReader`; a full disk is said once and told by the exit code. */
export function watchOutput(): void {
  let isSaid = false;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (isSaid) return;
    isSaid = true;
    if (error.code === "EPIPE") {
      hasReader = false;
      // `matrx tools laptop | head` is no failure.
      return stopWork ? stopWork() : process.exit(0);
    }
    console.error(`${styled("red", "Error:", process.stderr)} The output cannot be written (${error.code})`);
    console.error("What was printed so far is incomplete. Free some space, or write to another place");
    process.once("exit", () => {
      process.exitCode ||= IO_ERROR;
    });
  });
  // Whoever reads what is said on the side may go, too.
  process.stderr.on("error", () => undefined);
}

/** When nobody reads stdout any more, the program is not ended, but told to stop. */
export function endWithReader(stop: () => void): void {
  stopWork = stop;
}

/** Nobody reads stdout any more. */
export function isReaderGone(): boolean {
  return !hasReader;
}

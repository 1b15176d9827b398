/** What becomes of a command whose output nobody takes. */
import { IO_ERROR } from "./failure.ts";
import { styled } from "./print.ts";

/** A reader that goes ends the command well; a full disk is said once and told by the exit code, and work goes on. */
export function watchOutput(): void {
  let isSaid = false;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // `matrx tools laptop | head` is no failure.
    if (error.code === "EPIPE") process.exit(0);
    if (isSaid) return;
    isSaid = true;
    console.error(`${styled("red", "Error:", process.stderr)} The output cannot be written (${error.code})`);
    console.error("What was printed so far is not whole. Free some space, or write to another place");
    process.once("exit", () => {
      process.exitCode ||= IO_ERROR;
    });
  });
  // Whoever reads what is said on the side may go, too.
  process.stderr.on("error", () => undefined);
}

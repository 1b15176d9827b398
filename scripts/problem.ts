/** A problem that the person at the terminal can do something about: said in one sentence, without a stack. */
export class Problem extends Error {
  override name = "Problem";
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Tells whether an error of the file system or the network has one of these codes. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

/** The end of a script that failed: a sentence for a Problem, the stack for a fault of ours. */
export function reportAndExit(error: unknown): never {
  console.error(`\n${error instanceof Problem ? error.message : fault(error)}`);
  process.exit(1);
}

function fault(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

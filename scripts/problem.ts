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

/** What to do about an error of the file system. */
export function adviceFor(error: unknown): string {
  if (hasCode(error, "ENOSPC", "EDQUOT")) return "free some space there";
  if (hasCode(error, "EROFS")) return "it is mounted read-only, so mount it for writing";
  if (hasCode(error, "EISDIR", "ENOTDIR", "EEXIST"))
    return "something else is in its place, so move that away";
  if (hasCode(error, "EACCES", "EPERM"))
    return "make yourself its owner (starting with sudo leaves files that only root can write)";
  return "check that it can be read and written";
}

/** The end of a script that failed: a sentence for a Problem and for what the system refused, the stack for a fault of ours. */
export function reportAndExit(error: unknown): never {
  console.error(`\n${sentenceOf(error)}`);
  process.exit(1);
}

function sentenceOf(error: unknown): string {
  if (error instanceof Problem) return error.message;
  if (error instanceof Error && "syscall" in error) return `${error.message}: ${adviceFor(error)}.`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** What rules are matched with in the command of a call. */
import { bashSubjects } from "./bash-subjects.ts";
import { ANYTHING } from "./subject.ts";

/** What a shell on a terminal makes of a line depends on its language, and on aliases, functions and history that it has. */
export function commandSubjects(tool: string, command: string): string[] {
  return tool === "Bash" ? bashSubjects(command) : unseenSubjects(command);
}

/** Of a command whose shell is not known: it may be any. */
export function unseenSubjects(command: string): string[] {
  return [command, ANYTHING];
}

/** Tells the words of a call on the command line apart: a device, a tool, its input. */
import type { MatrxError } from "@matrx/shared/errors.ts";
import { usageError } from "../output/failure.ts";
import { builtInTool, toolNamed } from "./names.ts";

export interface Words {
  readonly device: string | undefined;
  readonly tool: string;
  readonly input: readonly string[];
}

/** Without a device, the tool's input follows it: input contains `=` or begins with `{`, and a tool's name does not. */
export function readWords(words: readonly string[], usage: string): Words {
  const [first, second] = words;
  if (first === undefined) throw usageError("No tool given", `Usage: ${usage}`);
  const namesDevice = second !== undefined && !second.includes("=") && !second.trimStart().startsWith("{");
  if (namesDevice && builtInTool(first) && !builtInTool(second)) throw notAnInput(first, second);
  return namesDevice
    ? { device: first, tool: toolNamed(second), input: words.slice(2) }
    : { device: undefined, tool: toolNamed(first), input: words.slice(1) };
}

function notAnInput(tool: string, word: string): MatrxError {
  return usageError(
    `${tool} is a tool, and "${word}" is not its input`,
    "Write key=value or one JSON object, such as: matrx call bash command='ls -la'",
  );
}

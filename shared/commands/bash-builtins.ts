/** What builtins of bash evaluate, set or change beyond what their words show. */
import { EVALUATED_VARIABLE } from "./starters.ts";
import { ANYTHING } from "./subject.ts";

/** Whether a builtin evaluates what its words say: an index of a variable, or arithmetic. */
export function mayEvaluate(name: string, words: readonly string[]): boolean {
  if (name === "let") return true;
  if (name === "printf") return words.some((word) => word.startsWith("-v"));
  if (name === "test" || name === "[") return words.some((word) => /^-[vR]$/.test(word));
  return words.some((word) => /^-\w*[iaA]|\[|^[^=]*\0|=\(/.test(word) || EVALUATED_VARIABLE.test(word));
}

/** Whether it sets a variable that is not known, or makes one another name of it. */
export function setsUnknown(name: string, words: readonly string[]): boolean {
  if (/^(?:declare|typeset|local)$/.test(name) && words.some((word) => /^-\w*n/.test(word))) return true;
  if (name === "printf") return words.some((word, at) => words[at - 1] === "-v" && word.startsWith(ANYTHING));
  return !/^(?:test|\[|let|wait|unset)$/.test(name) && words.some((word) => word.startsWith(ANYTHING));
}

/** Options of bash that change what later lines are: history that is expanded, assignments anywhere. */
export function changesReading(word: string, at: number, words: readonly string[]): boolean {
  if (words.slice(0, at).includes("--")) return false;
  return /^-\w*[kH]|^[-+]?\w*\0|^(?:keyword|history|histexpand)$/.test(word);
}

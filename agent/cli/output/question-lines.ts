/** The question that a person decides on, as lines for a terminal. */
import type { Question } from "@matrx/shared/question.ts";
import { oneLine, plain } from "./print.ts";

/** Every line of foreign text begins with a bar, so that none can pass for a line of ours. */
const BAR = "  | ";

export function questionLines(question: Question): string[] {
  const { tool, effect, summary, paths = [], command, diff, url, app, input, warnings } = question;
  return [
    oneLine(summary),
    ...warnings.map((warning) => `! ${oneLine(warning)}`),
    named("Tool", `${tool} (${effect})`),
    ...paths.map(({ path, intent }) => named("Path", `${path} (${intent})`)),
    ...(url === undefined ? [] : [named("Address", url)]),
    ...(app === undefined ? [] : [named("Program", app)]),
    ...(command ? commandLines(command) : []),
    ...(diff === undefined ? [] : ["Changes", ...block(diff), ...cutNote(question.diff_cut)]),
    ...(command ? [] : ["Input", ...block(input), ...cutNote(question.input_cut)]),
  ];
}

function commandLines({ text, cwd, sandbox, readable, writable, network }: NonNullable<Question["command"]>) {
  const list = (items: readonly string[] = []) => items.join(", ") || "nothing";
  return [
    "Command",
    ...block(text),
    named("In", cwd),
    named("Sandbox", sandbox ? "yes" : "no: it can do whatever the agent's user can"),
    ...(sandbox
      ? [named("Reads", list(readable)), named("Changes", list(writable)), named("Network", list(network))]
      : []),
  ];
}

function named(what: string, text: string): string {
  return `${what.padEnd(9)}${oneLine(text)}`;
}

function block(text: string): string[] {
  return plain(text)
    .split(/\r\n|[\n\u2028\u2029]/)
    .map((line) => BAR + line);
}

function cutNote(isCut: boolean | undefined): string[] {
  return isCut ? ["  (not all of it is shown)"] : [];
}

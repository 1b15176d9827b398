/** docs/protocol.md as the tests read it: labelled examples, tables, and the table that is made from the code. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/tree.ts";

const PATH = join(ROOT, "docs/protocol.md");
export const PAGE = readFileSync(PATH, "utf8");

/** An example: the words behind its fence, such as `FromDevice event`, and what stands in it. */
export interface Example {
  label: string;
  text: string;
}

function blocks(language: string): Example[] {
  const found = PAGE.matchAll(new RegExp(`^\`\`\`${language} (.+)\\n([^]*?)^\`\`\`$`, "gm"));
  return Array.from(found, ([, label = "", text = ""]) => ({ label, text }));
}

export const EXAMPLES = blocks("json");
export const HEX = blocks("text");

/** The second words of examples whose label begins with `union`. */
export function examplesOf(union: string): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const { label, text } of EXAMPLES) {
    const [first, name = first] = label.split(" ");
    if (first === union) found.set(name ?? "", JSON.parse(text));
  }
  return found;
}

/** The example with this label. */
export function example(label: string): unknown {
  const found = EXAMPLES.find((one) => one.label === label);
  if (!found) throw new Error(`docs/protocol.md has no example "${label}"`);
  return JSON.parse(found.text);
}

/** The rows of the table whose head begins with these words, as cells without their backticks. */
export function tableOf(...head: string[]): string[][] {
  const start = PAGE.indexOf(`| ${head.join(" | ")} |`);
  if (start === -1) throw new Error(`docs/protocol.md has no table ${head.join(", ")}`);
  const [table = ""] = PAGE.slice(start).split("\n\n", 1);
  return table
    .trimEnd()
    .split("\n")
    .slice(2)
    .map((row) =>
      row
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim().replace(/^`([^`]*)`$/, "$1")),
    );
}

/** What stands between the marks of a generated part; with UPDATE_DOCS=1 it is written anew. */
export function generated(name: string, wanted: string): string {
  const [from, to] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
  const start = PAGE.indexOf(from) + from.length;
  const end = PAGE.indexOf(to);
  if (start < from.length || end < start) throw new Error(`docs/protocol.md has no marks for ${name}`);
  if (process.env.UPDATE_DOCS === "1") {
    writeFileSync(PATH, PAGE.slice(0, start) + wanted + PAGE.slice(end));
    return wanted;
  }
  return PAGE.slice(start, end);
}

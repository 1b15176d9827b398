/** What Read answered: lines of a file behind their numbers, and notes below. */

export interface ReadText {
  /** Before each line; empty for a text that is the file's own. */
  readonly numbers: readonly string[];
  readonly lines: readonly string[];
  /** After the lines. */
  readonly rest: string;
}

const NUMBER = /^ *-?\d+\t/;

export function readTextIn(output: string): ReadText {
  const lines = output.split("\n");
  const end = lines.findIndex((line) => !NUMBER.test(line));
  const count = end === -1 ? lines.length : end;
  if (count === 0) return { numbers: [], lines, rest: "" };
  const numbers = lines.slice(0, count).map((line) => NUMBER.exec(line)?.[0] ?? "");
  return {
    numbers,
    lines: lines.slice(0, count).map((line, at) => line.slice(numbers[at]?.length)),
    rest: lines
      .slice(count)
      .map((line) => `\n${line}`)
      .join(""),
  };
}

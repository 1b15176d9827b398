/** A unified diff of two texts with one hunk: from the first line that differs to the last one. */

/** Lines around what differs. */
const AROUND = 3;
/** Of more lines, only that they differ is shown: comparing all of them with all would take too long. */
const MOST = 2_000;

export function lineChanges(before: string, after: string): string {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const from = Math.max(0, start - AROUND);
  const [lastA, lastB] = [a.length - end, b.length - end];
  const more = Math.min(AROUND, end);
  const lines = [
    ...a.slice(from, start).map((line) => ` ${line}`),
    ...changes(a.slice(start, lastA), b.slice(start, lastB)),
    ...a.slice(lastA, lastA + more).map((line) => ` ${line}`),
  ];
  const [countA, countB] = [lastA + more - from, lastB + more - from];
  return [`@@ -${from + 1},${countA} +${from + 1},${countB} @@`, ...lines].join("\n");
}

/** The fewest changes, by the longest common subsequence. */
function changes(a: readonly string[], b: readonly string[]): string[] {
  if (a.length * b.length > MOST * MOST)
    return [...a.map((line) => `-${line}`), ...b.map((line) => `+${line}`)];
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] =
        a[i] === b[j]
          ? at(common, (i + 1) * width + j + 1) + 1
          : Math.max(at(common, (i + 1) * width + j), at(common, i * width + j + 1));
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(` ${a[i]}`);
      i++;
      j++;
    } else if (
      j === b.length ||
      (i < a.length && at(common, (i + 1) * width + j) >= at(common, i * width + j + 1))
    )
      lines.push(`-${a[i++]}`);
    else lines.push(`+${b[j++]}`);
  }
  return lines;
}

function at(numbers: Uint32Array, place: number): number {
  return numbers[place] ?? 0;
}

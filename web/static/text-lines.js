/** Foreign text line by line. A long line wraps with an indent, so that its rest can't pass for a line of its own. */
import { element } from "./dom.js";

const KINDS = { "+": "ins", "-": "del" };

/** A command, or other text as it is. */
export function linesView(text, label) {
  return block(
    label,
    text.split("\n").map((line) => lineView("span", "", line)),
  );
}

/** A unified diff: each line keeps its sign, so that colours only help. */
export function diffView(diff, label) {
  const reader = new HunkReader();
  return block(
    label,
    diff.split("\n").map((line) => {
      const isContent = reader.take(line);
      const tag = (isContent && KINDS[line.charAt(0)]) || "span";
      return lineView(tag, isContent ? "" : "soft", line);
    }),
  );
}

function block(label, lines) {
  return element("pre", { class: "lines", tabindex: "0", role: "group", "aria-label": label }, ...lines);
}

function lineView(tag, kind, line) {
  return element(tag, { class: `line ${kind}` }, `${line}\n`);
}

/** Tells content from headers by the hunks' own counts: a removed line may well begin with `---`. */
class HunkReader {
  #before = 0;
  #after = 0;

  take(line) {
    const counts = /^@@ -\d+,(\d+) \+\d+,(\d+) @@/.exec(line);
    if (this.#before <= 0 && this.#after <= 0) {
      if (counts) [this.#before, this.#after] = [Number(counts[1]), Number(counts[2])];
      return !counts && /^(\+(?!\+\+ )|-(?!-- ))/.test(line);
    }
    const sign = line.charAt(0);
    if (sign !== "+" && sign !== "\\") this.#before--;
    if (sign !== "-" && sign !== "\\") this.#after--;
    return sign !== "\\";
  }
}

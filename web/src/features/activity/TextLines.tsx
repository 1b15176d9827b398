/** Foreign text line by line. A long line wraps with an indent, so that its rest cannot pass for a line of its own. */
import { ScrolledText } from "./ScrolledText.tsx";
import classes from "./TextLines.module.css";

interface Props {
  readonly text: string;
  readonly label: string;
}

/** A command, or other text as it is. */
export function TextLines({ text, label }: Props) {
  return (
    <ScrolledText label={label}>
      {text.split("\n").map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name, and never move
        <span key={at} className={classes.line}>{`${line}\n`}</span>
      ))}
    </ScrolledText>
  );
}

const KINDS: Readonly<Record<string, "ins" | "del">> = { "+": "ins", "-": "del" };

/** A unified diff: each line keeps its sign, so that colours only help. */
export function DiffLines({ text, label }: Props) {
  const reader = new HunkReader();
  return (
    <ScrolledText label={label}>
      {text.split("\n").map((line, at) => {
        const isContent = reader.take(line);
        const Line = (isContent && KINDS[line.charAt(0)]) || "span";
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name, and never move
          <Line key={at} className={classes.line} data-soft={!isContent || undefined}>{`${line}\n`}</Line>
        );
      })}
    </ScrolledText>
  );
}

/** Tells content from headers by the hunks' own counts: a removed line may well begin with `---`. */
class HunkReader {
  #before = 0;
  #after = 0;

  take(line: string): boolean {
    if (this.#before <= 0 && this.#after <= 0) {
      const counts = /^@@ -\d+,(\d+) \+\d+,(\d+) @@/.exec(line);
      if (counts) [this.#before, this.#after] = [Number(counts[1]), Number(counts[2])];
      return !counts && /^(\+(?!\+\+ )|-(?!-- ))/.test(line);
    }
    const sign = line.charAt(0);
    if (sign !== "+" && sign !== "\\") this.#before--;
    if (sign !== "-" && sign !== "\\") this.#after--;
    return sign !== "\\";
  }
}

/** Text in its language's colours, which come when they are there. Long texts have none: they would take too long. */
import { memo, useEffect, useState } from "react";
import type { Colored } from "../../../ui/code/highlight.ts";
import { languageOf } from "../../../ui/code/languages.ts";
import { shownText } from "../../../ui/code/shown-text.ts";
import code from "./Code.module.css";
import classes from "./Preview.module.css";

/** In characters. */
const MOST_COLORED = 200_000;
/** Lines that are drawn together: others are drawn when they come into view. */
const BLOCK = 80;

export function TextLines({ text, name }: { text: string; name: string }) {
  const [colored, setColored] = useState<{ of: string; lines: readonly Colored[][] }>();
  const language = languageOf(name);
  useEffect(() => {
    if (language === undefined || text.length > MOST_COLORED) return;
    let isLeft = false;
    // Without colours it is still text.
    void import("../../../ui/code/highlight.ts")
      .then(({ highlight }) => !isLeft && setColored({ of: text, lines: highlight(text, language) }))
      .catch(() => undefined);
    return () => {
      isLeft = true;
    };
  }, [text, language]);
  const lines =
    colored?.of === text
      ? colored.lines
      : text.split("\n").map((line) => [{ text: shownText(line), kind: undefined }]);
  const blocks = Array.from({ length: Math.ceil(lines.length / BLOCK) }, (_, at) => at * BLOCK);
  return (
    <pre className={`${classes.lines} ${code.code}`} dir="ltr">
      {blocks.map((from) => (
        <Block key={from} lines={lines.slice(from, from + BLOCK)} from={from} />
      ))}
    </pre>
  );
}

const Block = memo(({ lines, from }: { lines: readonly (readonly Colored[])[]; from: number }) => (
  <div className={classes.block}>
    {lines.map((line, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number.
      <div key={at} className={classes.textLine} data-number={from + at + 1}>
        {line.map(({ text, kind }, place) =>
          kind === undefined ? (
            text
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: they never change places.
            <span key={place} data-kind={kind}>
              {text}
            </span>
          ),
        )}
        {"\n"}
      </div>
    ))}
  </div>
));

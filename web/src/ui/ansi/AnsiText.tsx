/** A terminal's text with its colours. */
import { memo } from "react";
import classes from "./AnsiText.module.css";
import { type CssColours, cssColours } from "./colours.ts";
import type { Segment } from "./reader.ts";
import type { TextStyle } from "./style.ts";

const FLAGS = ["bold", "italic", "underline", "strike"] as const;

export const AnsiText = memo(function AnsiText({ segments }: { segments: readonly Segment[] }) {
  return segments.map(({ text, style }, at) =>
    isPlain(style) ? (
      text
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: segments never move
      <span key={at} className={classNames(style)} style={colours(style)}>
        {text}
      </span>
    ),
  );
});

function isPlain(style: TextStyle): boolean {
  return Object.keys(style).length === 0;
}

function classNames(style: TextStyle): string | undefined {
  const names = FLAGS.filter((flag) => style[flag]).map((flag) => classes[flag]);
  return names.length === 0 ? undefined : names.join(" ");
}

/** Most styles of a text come again and again. */
const known = new Map<string, CssColours>();
const MOST_KNOWN = 2_000;

function colours(style: TextStyle): CssColours {
  const key = JSON.stringify([style.fg, style.bg, style.inverse, style.dim]);
  const found = known.get(key);
  if (found) return found;
  if (known.size >= MOST_KNOWN) known.clear();
  const made = cssColours(style);
  known.set(key, made);
  return made;
}

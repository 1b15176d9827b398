/** The colours of a file's text in an answer, when they are there: without them it is still text. */
import { useEffect, useState } from "react";
import { languageOf } from "./languages.ts";

/** In characters. Longer texts would take too long, and only their beginning is drawn. */
const MOST_COLOURED = 100_000;

/** Undefined: none yet, or none at all. */
export function useCodeColours(output: string, file: string | undefined): string | undefined {
  const [made, setMade] = useState<{ of: string; coloured: string }>();
  const language = file === undefined ? undefined : languageOf(file);
  useEffect(() => {
    // What has a terminal's signs itself is drawn with its own.
    if (language === undefined || output.length > MOST_COLOURED || output.includes("\x1b")) return;
    let isLeft = false;
    void import("./terminal-colours.ts")
      .then(({ inTerminalColours }) => {
        if (!isLeft) setMade({ of: output, coloured: inTerminalColours(output, language) });
      })
      .catch(() => undefined);
    return () => {
      isLeft = true;
    };
  }, [output, language]);
  return made?.of === output ? made.coloured : undefined;
}

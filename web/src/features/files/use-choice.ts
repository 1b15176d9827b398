/** The entries of a list that are chosen. Another folder begins with none. */
import { useMemo, useState } from "react";
import { allOf, type Choice, chosenOf, keptOf, NONE_CHOSEN, ranged, toggled } from "./choice.ts";
import { type Entry, isNamed } from "./entries.ts";

export interface Chooser {
  readonly chosen: readonly Entry[];
  has(entry: Entry): boolean;
  /** One more, or one less. */
  toggle(index: number): void;
  /** All from the one that was chosen last, or from `from`, to this one. */
  extend(from: number, to: number): void;
  all(): void;
  clear(): void;
}

/** `entries`: those that are shown. `inFolder`: all that are there; undefined: that is not known. */
export function useChoice(entries: readonly Entry[], inFolder: readonly Entry[] | undefined): Chooser {
  const [choice, setChoice] = useState<Choice>(NONE_CHOSEN);
  const [known, setKnown] = useState(inFolder);
  if (known !== inFolder) {
    setKnown(inFolder);
    if (inFolder) setChoice(keptOf(choice, inFolder));
  }
  const chosen = useMemo(() => chosenOf(entries, choice), [entries, choice]);
  return {
    chosen,
    has: (entry) => choice.names.has(entry.name) && isNamed(entry),
    toggle(index) {
      const entry = entries[index];
      if (entry && isNamed(entry)) setChoice(toggled(choice, entry));
    },
    extend: (from, to) => setChoice(ranged(choice, entries, from, to)),
    all: () => setChoice(allOf(entries)),
    clear: () => setChoice(NONE_CHOSEN),
  };
}

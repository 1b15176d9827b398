/** What somebody types into a form, kept in this tab until it is saved or dropped: through reloads and other pages. */
import { useState } from "react";
import { dropInTab, keepInTab, keptInTab } from "./tab-store.ts";

/** `undefined`: nothing is typed. `name`: of the form, and what it is about. `isRight`: knows what may have been kept there. */
export function useKeptState<T extends object | string>(
  name: string,
  isRight: (kept: unknown) => kept is T,
): [T | undefined, (next: T | undefined) => void] {
  const [value, setValue] = useState(() => keptForm(name, isRight));
  // Not in an effect: a form that is left with its last change is gone before that runs.
  const set = (next: T | undefined) => {
    if (next === undefined) dropInTab(`form:${name}`);
    else keepInTab(`form:${name}`, next);
    setValue(next);
  };
  return [value, set];
}

export function keptForm<T>(name: string, isRight: (kept: unknown) => kept is T): T | undefined {
  return keptInTab(`form:${name}`, isRight);
}

export function isText(kept: unknown): kept is string {
  return typeof kept === "string";
}

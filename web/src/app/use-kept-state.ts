/** What somebody types into a form, kept in this tab until it is saved or dropped: through reloads and other pages. */
import { useEffect, useState } from "react";
import { dropInTab, keepInTab, keptInTab } from "./tab-store.ts";

/** `undefined`: nothing is typed. `name`: of the form, and what it is about. `isRight`: knows what may have been kept there. */
export function useKeptState<T extends object | string>(
  name: string,
  isRight: (kept: unknown) => kept is T,
): [T | undefined, (next: T | undefined) => void] {
  const [value, setValue] = useState(() => keptForm(name, isRight));
  useEffect(() => {
    if (value === undefined) dropInTab(`form:${name}`);
    else keepInTab(`form:${name}`, value);
  }, [name, value]);
  return [value, setValue];
}

export function keptForm<T>(name: string, isRight: (kept: unknown) => kept is T): T | undefined {
  return keptInTab(`form:${name}`, isRight);
}

export function isText(kept: unknown): kept is string {
  return typeof kept === "string";
}

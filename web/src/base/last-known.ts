/** The last answers of a few routes, kept in this browser: an app that starts offline shows them as old. */
import { store, storedJson, unstoreAll } from "./storage.ts";

const PREFIX = "matrx-last:";

export interface LastKnown<T> {
  readonly at: number;
  readonly value: T;
}

/** Keeps it for this account. Where there is no room, only the start offline is poorer for it. */
export function remember<T>(name: string, value: T): void {
  store("browser", PREFIX + name, JSON.stringify({ at: Date.now(), value }));
}

/** What was kept, by whichever release of the app; undefined: nothing, or what `isRight` does not know. */
export function lastKnown<T>(
  name: string,
  isRight: (value: unknown) => value is T,
): LastKnown<T> | undefined {
  const kept = storedJson("browser", PREFIX + name);
  if (typeof kept !== "object" || kept === null || !("at" in kept && "value" in kept)) return undefined;
  const { at, value } = kept;
  return typeof at === "number" && isRight(value) ? { at, value } : undefined;
}

/** Nothing of an account stays in a browser where it signs out. */
export function forgetLastKnown(): void {
  unstoreAll("browser", PREFIX);
}

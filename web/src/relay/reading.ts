/** An answer of the relay that the whole app looks at. What was read last stays when a later try fails. */
import { create } from "zustand";
import type { LastKnown } from "../base/last-known.ts";

export interface Read<T> {
  /** What was read last; undefined: nothing yet. Parts that did not change stay the same objects. */
  readonly data: T | undefined;
  /** When, in milliseconds; 0: never. */
  readonly dataUpdatedAt: number;
  /** Why the last try failed. */
  readonly error: unknown;
  refetch(): Promise<void>;
}

export interface Reading<T> {
  /** For components. */
  readonly use: () => Read<T>;
  readonly now: () => Read<T>;
  /** Calls back after each change. */
  readonly onChange: (listener: (read: Read<T>) => void) => () => void;
  /** Puts this in its place; whatever is being read for what stood there is dropped. */
  put(data: T | undefined): void;
}

/** `last`: what this browser kept of it. Nothing is read before somebody refetches. */
export function createReading<T>(read: () => Promise<T>, last: LastKnown<T> | undefined): Reading<T> {
  let latest = 0;
  const use = create<Read<T>>((set, get) => ({
    data: last?.value,
    dataUpdatedAt: last?.at ?? 0,
    error: null,
    async refetch() {
      latest++;
      const turn = latest;
      try {
        const data = withKept(get().data, await read());
        if (turn === latest) set({ data, dataUpdatedAt: Date.now(), error: null });
      } catch (error) {
        if (turn === latest) set({ error });
      }
    },
  }));
  return {
    use,
    now: use.getState,
    onChange: use.subscribe,
    put(data) {
      latest++;
      use.setState({ data, dataUpdatedAt: data === undefined ? 0 : Date.now(), error: null });
    },
  };
}

/** `now`, with what is the same as before in the objects that it was in: who shows it has nothing to draw anew. */
function withKept<T>(before: unknown, now: T): T {
  if (typeof now !== "object" || now === null || typeof before !== "object" || before === null) return now;
  const old = new Map<string, unknown>(Object.entries(before));
  const kept = Object.entries(now).map(([name, value]) => [name, withKept(old.get(name), value)] as const);
  const isSame =
    kept.length === old.size && kept.every(([name, value]) => old.has(name) && old.get(name) === value);
  if (isSame && Array.isArray(before) === Array.isArray(now)) return before as T;
  return (Array.isArray(now) ? kept.map(([, value]) => value) : Object.fromEntries(kept)) as T;
}

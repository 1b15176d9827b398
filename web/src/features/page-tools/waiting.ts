/** Waits until a store has what somebody needs. */
import { until } from "./gate.ts";

interface Store<S> {
  getState(): S;
  subscribe(listener: (state: S) => void): () => void;
}

interface Patience {
  /** In milliseconds. */
  readonly within: number;
  readonly signal: AbortSignal;
}

/** Undefined: it did not come in time. Throws the signal's reason when that ends it. */
export async function untilThere<S, T>(
  store: Store<S>,
  find: (state: S) => T | undefined,
  { within, signal }: Patience,
): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<T | undefined>();
  const look = (state: S) => {
    const found = find(state);
    if (found !== undefined) resolve(found);
  };
  const unsubscribe = store.subscribe(look);
  const timer = setTimeout(() => resolve(undefined), within);
  look(store.getState());
  try {
    return await until(promise, signal);
  } finally {
    unsubscribe();
    clearTimeout(timer);
  }
}

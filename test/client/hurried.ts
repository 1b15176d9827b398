/** Work with pauses, in no time. */
import { vi } from "vitest";

/** Pauses are over at once. */
export async function hurried<T>(work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const result = work();
    // A rejection is the caller's.
    result.catch(() => undefined);
    let isOver = false;
    result.finally(() => (isOver = true)).catch(() => undefined);
    while (!isOver) await vi.advanceTimersByTimeAsync(1000);
    return await result;
  } finally {
    vi.useRealTimers();
  }
}

/** Looks again and again, each time after the last look ended; keeps no program alive. */

export interface Repeated {
  /** No look begins any more; the one under way hears it by its signal. */
  close(): void;
}

export interface RepeatOptions {
  /** Looks once; resolves to the milliseconds until the next look. */
  readonly look: (signal: AbortSignal) => Promise<number>;
  /** Milliseconds until the next look after one that failed. */
  readonly againMs: number;
  /** Hears how each look ended: undefined, well. */
  readonly onEnd: (failure: Error | undefined) => void;
}

/** Many devices, and many services of one, must not all look at the same moment. */
const JITTER = 0.1;

export function repeat({ look, againMs, onEnd }: RepeatOptions): Repeated {
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const once = async () => {
    let wait = againMs;
    let failure: Error | undefined;
    try {
      wait = await look(stop.signal);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
    if (stop.signal.aborted) return;
    onEnd(failure);
    timer = setTimeout(once, wait * (1 - JITTER + 2 * JITTER * Math.random())).unref();
  };
  void once();
  return {
    close() {
      stop.abort();
      clearTimeout(timer);
    },
  };
}

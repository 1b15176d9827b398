/** Repeats a check, with a pause after each; does not keep the process alive. */

export interface Repeated {
  /** Starts no further check, and aborts the signal of the running one. */
  close(): void;
}

export interface RepeatOptions {
  /** Checks once; resolves to the milliseconds until the next check. */
  readonly look: (signal: AbortSignal) => Promise<number>;
  /** Milliseconds until the next check after a failed one. */
  readonly againMs: number;
  /** Called after each check, with its failure if there was one. */
  readonly onEnd: (failure: Error | undefined) => void;
}

/** Keeps many devices, and many services of one device, from checking at the same moment. */
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

/** Bounds how much of one kind each caller has under way at once, so that the many of one do not take the machine from others. */
import { ByteBudget } from "./byte-budget.ts";

interface Own {
  /** Counts calls instead of bytes. */
  readonly budget: ByteBudget;
  calls: number;
}

export class Turns {
  readonly #most: number;
  readonly #callers = new Map<string, Own>();

  /** `most`: of each caller. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Waits for one, which ends with what is returned. Rejects with the signal's reason. */
  async take(caller: string, signal: AbortSignal): Promise<Disposable> {
    const own = this.#callers.get(caller) ?? { budget: new ByteBudget(this.#most), calls: 0 };
    this.#callers.set(caller, own);
    own.calls++;
    const leave = () => {
      own.calls--;
      if (own.calls === 0) this.#callers.delete(caller);
    };
    try {
      const release = await own.budget.take(1, signal);
      return {
        [Symbol.dispose]() {
          release();
          leave();
        },
      };
    } catch (error) {
      leave();
      throw error;
    }
  }
}

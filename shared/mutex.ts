/** Runs actions one at a time, so each sees the result of the one before. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  runExclusive<T>(action: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(action, action);
    this.#last = turn;
    return turn;
  }
}

/** A mutex per path. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  async runExclusive<T>(path: string, action: () => Promise<T>): Promise<T> {
    const before = this.#last.get(path) ?? Promise.resolve();
    const turn = before.then(action, action);
    this.#last.set(path, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(path) === turn) this.#last.delete(path);
    }
  }
}

/** A mutex that many callers share: of each no more than one action waits for it, so that the many of one hold up nobody else. */
export class FairMutex {
  readonly #callers = new KeyedMutex();
  readonly #all = new Mutex();

  runExclusive<T>(caller: string, action: () => Promise<T>): Promise<T> {
    return this.#callers.runExclusive(caller, () => this.#all.runExclusive(action));
  }
}

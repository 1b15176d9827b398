/** A mutex per path: changes run one at a time, so each sees the result of the one before. */
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

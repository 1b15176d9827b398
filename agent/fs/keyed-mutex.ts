/** Changes of one path wait for each other: each looks at what the one before left. */
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

/** One timer for everything that is due within seconds. Later things take the alarm: a timer keeps the object awake. */
export class Timer {
  readonly #run: () => void;
  #due: number | undefined;
  #handle: ReturnType<typeof setTimeout> | null = null;

  constructor(run: () => void) {
    this.#run = run;
  }

  /** Runs by `at` (milliseconds since 1970), or sooner if that was asked for. */
  by(at: number): void {
    if (this.#due !== undefined && this.#due <= at) return;
    clearTimeout(this.#handle);
    this.#due = at;
    this.#handle = setTimeout(
      () => {
        this.#due = undefined;
        this.#run();
      },
      Math.max(0, at - Date.now()),
    );
  }
}

/**
 * A timer for what is due within seconds. It keeps the object awake and costs no write; whatever may be due during
 * hibernation belongs in the alarm table (docs/decisions/0017-alarm-table.md).
 */
export class Timer {
  readonly #run: () => void;
  #due: number | undefined;
  #handle: ReturnType<typeof setTimeout> | null = null;

  constructor(run: () => void) {
    this.#run = run;
  }

  /** Runs at `at` (milliseconds since 1970), or sooner if already scheduled sooner. */
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

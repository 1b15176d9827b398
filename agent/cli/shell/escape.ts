/** The keys with which `matrx shell` is left, as ssh has them: `~` at the beginning of a line, then `.`, `n` or `?`. */

export type EscapeAction = "detach" | "next" | "help";

export interface Typed {
  /** What goes to the terminal. */
  readonly bytes: Buffer;
  readonly action?: EscapeAction;
}

const TILDE = 0x7e;
const ACTIONS = new Map<number, EscapeAction>([
  [0x2e, "detach"],
  [0x6e, "next"],
  [0x3f, "help"],
]);

export class EscapeKeys {
  #isLineStart = true;
  #isEscaped = false;

  /** What follows an action in the same piece is dropped with it. */
  read(piece: Buffer): Typed {
    const sent: number[] = [];
    for (const byte of piece) {
      if (this.#isEscaped) {
        this.#isEscaped = false;
        const action = ACTIONS.get(byte);
        if (action) {
          this.#isLineStart = true;
          return { bytes: Buffer.from(sent), action };
        }
        // `~~` types one.
        if (byte !== TILDE) sent.push(TILDE);
      } else if (this.#isLineStart && byte === TILDE) {
        this.#isEscaped = true;
        continue;
      }
      sent.push(byte);
      this.#isLineStart = byte === 0x0d || byte === 0x0a;
    }
    return { bytes: Buffer.from(sent) };
  }
}

/** Why the holder does not do what it was asked for. */
export class Refusal extends Error {
  readonly code: "NOT_FOUND" | "ENDED" | "FULL" | "BUSY" | "INVALID";

  constructor(code: Refusal["code"], message: string) {
    super(message);
    this.code = code;
  }
}

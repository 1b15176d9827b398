/** What is measured. */

/** A way to make calls; `call` resolves with the answer and rejects when the answer is an error. */
export interface Line {
  call(): Promise<void>;
  close(): void;
}

/** One way from caller to device and back, ready to be measured. */
export interface Variant {
  name: string;
  line: Line;
  /** Pid of the relay's process; absent: there is none on the way. */
  relay?: number;
  /** Milliseconds until what its calls leave behind is done, such as acknowledgements. */
  aftermath?: number;
}

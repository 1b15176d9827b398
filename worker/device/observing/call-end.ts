import type { ResultHeader } from "@matrx/shared/result-frame.ts";

/** How a call ended, as far as the relay knows. */
export interface CallEnd extends Pick<ResultHeader, "code" | "exit" | "preview"> {
  readonly status: ResultHeader["status"] | "unknown";
  readonly ms: number;
  /** The answer's length. */
  readonly bytes?: number;
}

/** What goes into a call of the command line, and what comes out of it. */
import type { Answer } from "@matrx/shared/caller-frames.ts";
import type { LiveOutput } from "../output/live-output.ts";

/** One call, however it travels. */
export interface CallToMake {
  readonly device: string;
  readonly tool: string;
  readonly input: Record<string, unknown>;
  readonly timeoutMs: number | undefined;
  /** The same key is the same call: a lost answer can be asked for again. */
  readonly key: string | undefined;
  readonly session: string | undefined;
  /** Cancels the call. */
  readonly stop: AbortSignal;
}

/** How it ended. */
export interface MadeCall {
  answer: Answer;
  /** Output that was shown while it came. */
  live?: LiveOutput | undefined;
  session: string | undefined;
}

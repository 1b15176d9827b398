/** What the relay answered instead of doing it (RFC 9457). */
import type { problemSchema } from "@matrx/shared/api.ts";
import type * as z from "zod";

type Problem = Partial<z.infer<typeof problemSchema>>;

export class ApiError extends Error {
  /** HTTP's; 0: the relay could not be reached. */
  readonly status: number;
  readonly code: Problem["code"];
  /** What to do about it. */
  readonly hint: string | undefined;
  /** Who said it. */
  readonly hop: string | undefined;
  /** All that was answered. */
  readonly problem: Problem;

  constructor(status: number, problem: Problem) {
    super(problem.detail || problem.title || `The relay answered ${status}`);
    this.name = "ApiError";
    this.status = status;
    this.code = problem.code;
    this.hint = problem.hint;
    this.hop = problem.hop;
    this.problem = problem;
  }
}

export function unreachableError(): ApiError {
  return new ApiError(0, {
    detail: "Can't reach the relay.",
    hint: "Check your connection. The app goes on by itself when the relay is back.",
  });
}

export function otherSessionError(): ApiError {
  return new ApiError(0, {
    detail: "Somebody signed in or out meanwhile.",
    hint: "Look whether it was done, then try again.",
  });
}

/** Tells whether the session is over. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

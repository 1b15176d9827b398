/** What the relay answered instead of doing it (RFC 9457), or what came in place of its answer. */
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

/** Nothing answered in time. What changes something may have been done. */
export function silentError(method = "GET"): ApiError {
  const isRead = method === "GET";
  return new ApiError(0, {
    detail: isRead
      ? "The relay doesn't answer."
      : "The relay doesn't answer, so it is unclear whether it was done.",
    hint: isRead
      ? "Check your connection, and try again."
      : "Check whether it was done before you try again.",
  });
}

/** The answer has no form that this page knows. */
export function unreadableError(status: number): ApiError {
  return new ApiError(status, {
    detail: "The relay's answer can't be read here.",
    hint: "It broke off on the way, or the relay and this page are of different releases. Try again, or reload the page.",
  });
}

/** A page came, as a network sends it that wants people to sign in first, or a proxy whose relay is gone. */
export function otherPageError(status: number): ApiError {
  return new ApiError(status, {
    detail: "Something else answered in place of the relay.",
    hint: "A network that asks you to sign in does that, or a proxy that can't reach the relay. Open any other site, then try again.",
  });
}

export function otherSessionError(): ApiError {
  return new ApiError(0, {
    detail: "Somebody signed in or out in the meantime.",
    hint: "Check whether it was done, then try again.",
  });
}

/** Tells whether the session is over: only the relay itself can say so. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401 && error.code !== undefined;
}

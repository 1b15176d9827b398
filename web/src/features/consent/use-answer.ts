/** Sends a person's answer, and goes back to the app with what the relay makes of it. */
import type { RequestAnswer } from "@matrx/shared/oauth-api.ts";
import { useState } from "react";
import { ApiError, isSignedOut } from "../../relay/api-error.ts";
import { tellAnswered } from "./other-pages.ts";

export interface Answering {
  readonly isSending: boolean;
  /** What stood in the way; undefined: nothing. */
  readonly problem: unknown;
  /** What was answered; undefined: nothing yet. */
  readonly answered: RequestAnswer | undefined;
  readonly fail: (problem: unknown) => void;
  readonly answer: (what: RequestAnswer, send: () => Promise<{ location: string }>) => Promise<void>;
}

function isWeb(address: string): boolean {
  return /^https?:$/.test(new URL(address).protocol);
}

/** `reread` is called if nobody is signed in any more, or the request was answered on another page. */
export function useAnswer(request: string, reread: () => Promise<void>): Answering {
  const [isSending, setSending] = useState(false);
  const [problem, fail] = useState<unknown>();
  const [answered, setAnswered] = useState<RequestAnswer>();

  async function answer(what: RequestAnswer, send: () => Promise<{ location: string }>): Promise<void> {
    if (isSending) return;
    setSending(true);
    fail(undefined);
    try {
      const { location: there } = await send();
      setAnswered(what);
      tellAnswered(request);
      // A program has no use for a refusal, and what a stranger named is not opened for nothing.
      if (what === "allowed" || isWeb(there)) location.replace(there);
    } catch (error) {
      if (isSignedOut(error) || isAnswered(error)) return reread();
      fail(error);
    } finally {
      setSending(false);
    }
  }

  return { isSending, problem, answered, fail, answer };
}

function isAnswered(error: unknown): boolean {
  return error instanceof ApiError && error.code === "CONFLICT" && error.problem.field === "request";
}

/** Sends a person's answer, and goes back to the app with what the relay makes of it. */
import { useState } from "react";
import { isSignedOut } from "../../relay/api-error.ts";

export type Answer = "allowed" | "denied";

export interface Answering {
  readonly isSending: boolean;
  /** What stood in the way; undefined: nothing. */
  readonly problem: unknown;
  /** What was answered; undefined: nothing yet. */
  readonly answered: Answer | undefined;
  readonly fail: (problem: unknown) => void;
  readonly answer: (what: Answer, send: () => Promise<{ location: string }>) => Promise<void>;
}

function isWeb(address: string): boolean {
  return /^https?:$/.test(new URL(address).protocol);
}

/** `signedOut` is called if nobody is signed in any more. */
export function useAnswer(signedOut: () => Promise<void>): Answering {
  const [isSending, setSending] = useState(false);
  const [problem, fail] = useState<unknown>();
  const [answered, setAnswered] = useState<Answer>();

  async function answer(what: Answer, send: () => Promise<{ location: string }>): Promise<void> {
    if (isSending) return;
    setSending(true);
    fail(undefined);
    try {
      const { location: there } = await send();
      setAnswered(what);
      // A program has no use for a refusal, and what a stranger named is not opened for nothing.
      if (what === "allowed" || isWeb(there)) location.replace(there);
    } catch (error) {
      if (isSignedOut(error)) return signedOut();
      fail(error);
    } finally {
      setSending(false);
    }
  }

  return { isSending, problem, answered, fail, answer };
}

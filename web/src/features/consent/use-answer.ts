/** Sends a person's answer, and goes back to the app with what the relay makes of it. */
import { useState } from "react";
import { isSignedOut } from "../../relay/api-error.ts";

export interface Leaving {
  readonly isAllowed: boolean;
  /** The app's own address, with the answer. */
  readonly there: string;
}

export interface Answering {
  readonly isSending: boolean;
  /** What stood in the way; undefined: nothing. */
  readonly problem: unknown;
  /** It was answered. */
  readonly leaving: Leaving | undefined;
  readonly fail: (problem: unknown) => void;
  readonly answer: (isAllowed: boolean, send: () => Promise<{ location: string }>) => Promise<void>;
}

/** `signedOut` is called if nobody is signed in any more. */
export function useAnswer(signedOut: () => Promise<void>): Answering {
  const [isSending, setSending] = useState(false);
  const [problem, fail] = useState<unknown>();
  const [leaving, setLeaving] = useState<Leaving>();

  async function answer(isAllowed: boolean, send: () => Promise<{ location: string }>): Promise<void> {
    if (isSending) return;
    setSending(true);
    fail(undefined);
    try {
      const { location: there } = await send();
      setLeaving({ isAllowed, there });
      location.replace(there);
    } catch (error) {
      if (isSignedOut(error)) return signedOut();
      fail(error);
    } finally {
      setSending(false);
    }
  }

  return { isSending, problem, leaving, fail, answer };
}

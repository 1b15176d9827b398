/** A value that is sent anew with each change, in the order of the changes. */
import { useRef, useState } from "react";
import { sayProblem } from "./notices.ts";

/**
 * Returns what was chosen, until the relay has it and `refresh` has read that, and how to choose. The next change must be made to
 * what was chosen, or it would undo it.
 */
export function useSent<T>(
  send: (next: T) => Promise<unknown>,
  refresh: () => Promise<unknown>,
): [T | undefined, (next: T) => void] {
  const [chosen, setChosen] = useState<T>();
  const sending = useRef<Promise<unknown>>(Promise.resolve());
  const choose = (next: T) => {
    setChosen(() => next);
    const isLast = () => sending.current === sent;
    const sent = sending.current.then(async () => {
      await send(next).catch(sayProblem);
      if (isLast()) await refresh().catch(sayProblem);
      if (isLast()) setChosen(undefined);
    });
    sending.current = sent;
  };
  return [chosen, choose];
}

/** Whoever wants a terminal in a folder finds one there. */
import { useEffect, useEffectEvent } from "react";
import type { Terminals } from "./use-terminals.ts";
import { takeWish, useWish } from "./wish.ts";

/** `terminals`: undefined until one can be opened. */
export function useWishedTerminal(device: string, terminals: Terminals | undefined): void {
  const isWished = useWish(({ wish }) => wish?.device === device);
  const isReady = terminals !== undefined && !terminals.isBusy;
  const fulfil = useEffectEvent(() => {
    const folder = takeWish(device);
    if (folder !== undefined) void terminals?.createIn(folder);
  });
  useEffect(() => {
    if (isWished && isReady) fulfil();
  }, [isWished, isReady]);
}

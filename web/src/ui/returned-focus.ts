/** A dialog that is on the page only while it is open: what had the focus before gets it back. */
import { useEffectEvent, useLayoutEffect } from "react";

/** `otherwise`: focuses something else if that has gone meanwhile. */
export function useReturnedFocus(isOpen: boolean, otherwise?: () => void): void {
  const giveUp = useEffectEvent(() => otherwise?.());
  useLayoutEffect(() => {
    if (!isOpen) return;
    const before = document.activeElement;
    // Once the dialog has gone. Something else may have taken the focus by then.
    const giveBack = () => {
      if (document.activeElement !== document.body) return;
      if (before instanceof HTMLElement && before !== document.body && before.isConnected)
        before.focus({ preventScroll: true });
      else giveUp();
    };
    return () => queueMicrotask(giveBack);
  }, [isOpen]);
}

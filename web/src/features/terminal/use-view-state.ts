/** How a view stands, drawn anew as it changes. */
import { useSyncExternalStore } from "react";
import type { TerminalView } from "./view.ts";

const never = () => () => undefined;
const nothing = () => undefined;

/** Undefined: there is no view yet. */
export function useViewState(view: TerminalView | undefined) {
  const store = view?.useState;
  return useSyncExternalStore(store?.subscribe ?? never, store?.getState ?? nothing);
}

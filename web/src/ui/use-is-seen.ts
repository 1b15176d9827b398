/** Whether the page is in sight: what is asked again and again need not be asked for nobody. */
import { useSyncExternalStore } from "react";

export function useIsSeen(): boolean {
  return useSyncExternalStore(follow, () => document.visibilityState === "visible");
}

function follow(changed: () => void): () => void {
  document.addEventListener("visibilitychange", changed);
  return () => document.removeEventListener("visibilitychange", changed);
}

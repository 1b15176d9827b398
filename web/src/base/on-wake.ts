/** When a network that went away may be back. */

/** Calls back whenever that may be so while the page is seen, until `signal` is aborted. */
export function onWake(awake: () => void, signal: AbortSignal): void {
  const look = () => {
    if (document.visibilityState === "visible") awake();
  };
  for (const event of ["online", "focus"]) addEventListener(event, look, { signal });
  document.addEventListener("visibilitychange", look, { signal });
}

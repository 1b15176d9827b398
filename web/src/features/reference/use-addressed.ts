/** The operation that the address names is opened, and has the focus. */
import { useEffect } from "react";
import { flushSync } from "react-dom";

/** Shows the address's operation, and each that it names later. `leaveFilter` brings back those that a filter hides. */
export function useAddressed(leaveFilter: () => void): void {
  useEffect(() => {
    showOperation(addressed());
    const follow = () => {
      if (showOperation(addressed())) return;
      flushSync(leaveFilter);
      showOperation(addressed());
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [leaveFilter]);
}

/** Tells whether it is on the page. */
export function showOperation(id: string): boolean {
  const found = document.getElementById(id);
  if (!(found instanceof HTMLDetailsElement)) return false;
  found.open = true;
  found.scrollIntoView();
  found.querySelector("summary")?.focus();
  return true;
}

function addressed(): string {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
}

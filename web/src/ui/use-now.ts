/** The time, for what counts up or down. */
import { useEffect, useState } from "react";

/** Anew every second; it stands still while `isStill`. In milliseconds since 1970. */
export function useNow(isStill = false): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (isStill) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isStill]);
  return now;
}

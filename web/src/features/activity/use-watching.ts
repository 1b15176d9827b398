/** While somebody looks at this page, the relay is asked for calls as they happen. */
import { useEffect } from "react";
import { useConnection, watchCalls } from "../../relay/connection.ts";
import { readApprovals } from "../../relay/live.ts";

/** More often than the relay stops sending, in milliseconds. */
const WATCH_EVERY = 120_000;
/** How often what waits is asked for while nothing can be told live, in milliseconds. */
const LOOK_EVERY = 5_000;

export function useWatching(): void {
  const state = useConnection((connection) => connection.state);
  useEffect(() => {
    if (state !== "online") return;
    const watch = () => {
      if (document.visibilityState === "visible") watchCalls();
    };
    watch();
    const timer = setInterval(watch, WATCH_EVERY);
    document.addEventListener("visibilitychange", watch);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", watch);
    };
  }, [state]);
}

/** Calls that wait for a person are found without the live connection too, as long as the relay answers. */
export function useApprovalsAnyway(): void {
  const state = useConnection((connection) => connection.state);
  useEffect(() => {
    if (state === "online" || state === "signed out") return;
    const look = () => void readApprovals().catch(() => undefined);
    look();
    const timer = setInterval(look, LOOK_EVERY);
    return () => clearInterval(timer);
  }, [state]);
}

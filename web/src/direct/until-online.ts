/** Waits for the direct connection. */
import { useDirect } from "./local.ts";

/** How often it is looked at, in milliseconds. */
const LOOK_EVERY = 250;

/** Resolves to true once it is open; to false if nobody wants it any more, it needs the person, or `signal` is aborted. */
export async function untilOnline(signal: AbortSignal): Promise<boolean> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
    const { state } = useDirect.getState();
    if (signal.aborted || state === "off" || state === "stopped") return false;
    if (state === "online") return true;
  }
}

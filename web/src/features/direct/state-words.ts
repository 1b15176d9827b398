/** How the direct connection stands, in a few words. */
import type { Direct, DirectState } from "../../direct/local.ts";
import type { Tone } from "../../ui/Status.tsx";

const STATES: Readonly<Record<DirectState, { readonly tone: Tone; readonly text: string }>> = {
  off: { tone: "idle", text: "Not connected" },
  connecting: { tone: "idle", text: "Connecting" },
  online: { tone: "ok", text: "Connected directly" },
  reconnecting: { tone: "warn", text: "Reconnecting" },
  stopped: { tone: "bad", text: "Not connected" },
};

export function directWords({ state, obstacle }: Pick<Direct, "state" | "obstacle">) {
  if (state === "connecting" && obstacle) return { tone: "warn", text: "Trying again" } as const;
  return STATES[state];
}

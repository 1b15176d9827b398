/** How the watching of a machine stands, in a word. */
import type { Tone } from "../../ui/Status.tsx";
import type { WatchState } from "./watching.ts";

export function wordsOf(state: WatchState, isPaused: boolean): { tone: Tone; text: string } {
  if (isPaused) return { tone: "idle", text: "Paused" };
  switch (state.kind) {
    case "live":
      return { tone: "ok", text: "Live" };
    case "silent":
      return { tone: "warn", text: "No new figures" };
    case "connecting":
      return { tone: "idle", text: "Connecting" };
    case "asked":
      return { tone: "warn", text: "Waiting for approval" };
    case "reconnecting":
      return { tone: "warn", text: state.isOffline ? "The machine is offline" : "Reconnecting" };
    case "failed":
      return { tone: "bad", text: "Unavailable" };
    default:
      return state satisfies never;
  }
}

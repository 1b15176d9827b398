/** How a machine is, in words. */
import type { DeviceView } from "@matrx/shared/api.ts";
import { ago } from "./format.ts";
import type { Tone } from "./Status.tsx";

/** A tool call would reach it. */
export function isOnline({ state }: Pick<DeviceView, "state">): boolean {
  return state === "ONLINE" || state === "IDLE";
}

export function stateOf({ state, last_seen: seen }: DeviceView): { tone: Tone; text: string } {
  if (state === "ONLINE") return { tone: "ok", text: "Online" };
  if (state === "IDLE") return { tone: "ok", text: "Idle" };
  return { tone: "idle", text: seen === null ? "Never seen" : `Seen ${ago(seen)}` };
}

export function systemOf({ kind, os, os_version: version }: DeviceView): string {
  const system = kind === "bare" ? "Your own program" : os;
  // Such as Linux and "Debian GNU/Linux 12 (bookworm)".
  if (system && version?.includes(system)) return version;
  return [system, version].filter(Boolean).join(" ");
}

/** The last time that a real tool of it answered. */
export function proofOf({ proof, shared_by: sharedBy }: DeviceView): string {
  if (sharedBy !== undefined) return `Shared by ${sharedBy}`;
  if (!proof) return "Not proven yet: no tool has answered so far.";
  const { tool, verdict, ms, at } = proof;
  if (verdict === "success") return `Proven ${ago(at)}: ${tool} answered in ${Math.round(ms)} ms.`;
  return `Last answer ${ago(at)}: ${tool}, ${verdict === "cancelled" ? "cancelled" : "with an error"}.`;
}

export function pausedText({ paused }: DeviceView): string | undefined {
  if (!paused) return undefined;
  return paused === "ai" ? "Paused for AI" : "Paused";
}

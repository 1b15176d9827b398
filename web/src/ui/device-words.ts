/** How a machine is, in words. */
import type { DeviceView } from "@matrx/shared/api.ts";
import { LOCAL_DEVICE } from "../direct/local.ts";
import { ago, clockTime } from "./format.ts";
import type { Tone } from "./Status.tsx";
import { nameInText, shortLine } from "./visible-text.ts";

/** A tool call would reach it. */
export function isOnline({ state }: Pick<DeviceView, "state">): boolean {
  return state === "ONLINE" || state === "IDLE";
}

export function stateOf({ id, state, last_seen: seen }: DeviceView): { tone: Tone; text: string } {
  if (state === "ONLINE") return { tone: "ok", text: "Online" };
  if (state === "IDLE") return { tone: "ok", text: "Idle" };
  if (id === LOCAL_DEVICE) return { tone: "warn", text: "Not reached" };
  return { tone: "idle", text: seen === null ? "Never seen" : `Seen ${ago(seen)}` };
}

/** How it was when the relay was last heard: what is old must not look as if it held now. */
export function lastStateOf(device: DeviceView): { tone: Tone; text: string } {
  const { text } = stateOf(device);
  if (isOnline(device)) return { tone: "idle", text: `Was ${text.toLowerCase()}` };
  const seen = device.last_seen;
  return { tone: "idle", text: seen === null ? text : `Seen ${clockTime(seen)}` };
}

export function systemOf({ id, kind, hostname, os, os_version: version }: DeviceView): string {
  if (id === LOCAL_DEVICE) return `At ${hostname}`;
  const system = kind === "bare" ? "Your own program" : os;
  // Such as Linux and "Debian GNU/Linux 12 (bookworm)".
  if (system && version?.includes(system)) return version;
  return [system, version].filter(Boolean).join(" ");
}

/** The last time that a real tool of it answered. `time`: how times are said. */
export function proofOf({ id, proof, shared_by: sharedBy }: DeviceView, time = ago): string {
  if (id === LOCAL_DEVICE) return "Reached directly, without the relay.";
  if (sharedBy !== undefined) return `Shared by ${nameInText(sharedBy)}`;
  if (!proof) return "Not proven yet: no tool has answered so far.";
  const { verdict, ms, at } = proof;
  const tool = shortLine(proof.tool);
  if (verdict === "success") return `Proven ${time(at)}: ${tool} answered in ${Math.round(ms)} ms.`;
  return `Last answer ${time(at)}: ${tool}, ${verdict === "cancelled" ? "cancelled" : "with an error"}.`;
}

export function pausedText({ paused }: DeviceView): string | undefined {
  if (!paused) return undefined;
  return paused === "ai" ? "Paused for AI" : "Paused";
}

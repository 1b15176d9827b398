/** The relay's gate: may this grant call this tool here, now? Synchronous; the agent checks again. */
import type { WantedCall } from "@matrx/shared/caller/port.ts";
import { DEVICE_DOCUMENT_DESCRIPTIONS } from "@matrx/shared/device-document-tools.ts";
import {
  DEVICE_DOCUMENT_TOOLS,
  effectOf,
  effectOfCall,
  isModelName,
  namesLike,
  nearestName,
  toolNameOf,
} from "@matrx/shared/effects.ts";
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { LIMITS, RATES, TIMES } from "@matrx/shared/limits.ts";
import { modelView, type OfferedTools, offeredTools, type WantedView } from "@matrx/shared/model-view.ts";
import { refusalOf } from "@matrx/shared/policy.ts";
import { retryIn } from "@matrx/shared/retry.ts";
import type { ToolDescription } from "@matrx/shared/tool.ts";
import type { Lease } from "../leases.ts";
import type { Passed } from "../ledger/call.ts";
import type { AccountPause } from "../pause.ts";
import type { RateLimits, Rates } from "../rates.ts";
import type { RecordStore } from "../store.ts";

interface GateKeeping {
  store: RecordStore;
  rates: Rates;
  pause: AccountPause;
  /** Calls in flight on this device, over all callers. */
  underWay: number;
}

/** Throws MatrxError: `PERMISSION_DENIED`, `TOOL_NOT_FOUND`, `RATE_LIMITED`. */
export function passGate(
  { tool: name, input }: WantedCall,
  lease: Lease,
  { store, rates, pause, underWay }: GateKeeping,
  now: number,
): Passed {
  pause.requireOpen(lease.scope);
  const passed = requireAllowed(name, lease.scope, store);
  const limits = rateLimits(lease, store);
  const wait = rates.takeCall(lease.scope.id, limits, now);
  if (wait > 0) throw tooFast(tooManyCalls(limits), wait);
  if (underWay >= LIMITS.unansweredPerDevice) throw tooMany(underWay);
  // Nobody knows what a bare device makes of its input.
  return isBare(store) ? passed : { ...passed, effect: effectOfCall(passed.tool, () => JSON.parse(input)) };
}

/** The gate without the rates, which count a call once. Throws MatrxError: `PERMISSION_DENIED`, `TOOL_NOT_FOUND`. */
export function requireAllowed(name: string, grant: GrantScope, store: RecordStore): Passed {
  const { policy } = store;
  const tool = store.toolCalled(name) ?? toolNameOf(name);
  const known = store.toolNamed(tool);
  // Checked before the grant: a misspelt name is not a question of permission.
  if (!known && store.manifest && !isBare(store)) throw toolNotFound(name, grant, store);
  if (!store.isPolicyReadable) throw unreadablePolicy();
  const confinesCommands = !isBare(store);
  const refusal = refusalOf({ tool, called: name, grant, policy, confinesCommands }, "relay");
  if (refusal) throw new MatrxError(refusal);
  return {
    tool,
    called: name === tool ? undefined : name,
    effect: effectOf(tool),
    toolTimeoutMs: Math.min(known?.timeout_ms ?? TIMES.callDefault, TIMES.callMax),
  };
}

/** Throws MatrxError `RATE_LIMITED` when a grant sends more messages than it may. */
export function passMessage(lease: Lease, store: RecordStore, rates: Rates, now: number): void {
  const limits = rateLimits(lease, store);
  const wait = rates.takeMessage(lease.scope.id, limits, now);
  if (wait > 0) throw tooFast(`More than ${limits.messages_per_second} messages per second`, wait);
}

/** The names of the tools that this grant may call. */
export function toolNames(grant: GrantScope, store: RecordStore): string[] {
  const announced = store.manifest?.tools.map(({ name }) => name);
  const names = announced ?? (isBare(store) ? DEVICE_DOCUMENT_TOOLS : []);
  return names.filter((name) => mayCall(name, grant, store)).sort();
}

/** What the device announced of the tools that this grant may call. */
export function allowedTools(grant: GrantScope, store: RecordStore): ToolDescription[] {
  return (store.manifest?.tools ?? []).filter(({ name }) => mayCall(name, grant, store));
}

/** The tools shown to a model under this grant: those that grant and policy allow. */
export function openTools(grant: GrantScope, store: RecordStore, view?: WantedView): OfferedTools {
  return offeredTools(announcedTools(store), (tool) => mayCall(tool, grant, store), grant, view);
}

function announcedTools(store: RecordStore): readonly ToolDescription[] {
  return store.manifest?.tools ?? (isBare(store) ? DEVICE_DOCUMENT_DESCRIPTIONS : []);
}

/** The working tools that this grant may call, under their model names if `called` is one. */
function callableNames(called: string, grant: GrantScope, store: RecordStore): string[] {
  if (isModelName(called))
    return modelView(announcedTools(store), (tool) => mayCall(tool, grant, store))
      .map(({ model_name }) => model_name)
      .sort();
  return allowedTools(grant, store)
    .filter(({ unavailable }) => !unavailable)
    .map(({ name }) => name)
    .sort();
}

/** Whether this grant may call a tool of the device, by the tool's own name. */
export function mayCall(tool: string, grant: GrantScope, store: RecordStore): boolean {
  const confinesCommands = !isBare(store);
  return refusalOf({ tool, grant, policy: store.policy, confinesCommands }, "relay") === undefined;
}

/** A bare device announces no tools, so any name is passed on to it. */
function isBare(store: RecordStore): boolean {
  return store.record?.identity.kind === "bare";
}

/** Calls per minute that the owner chose may all come at once. */
function rateLimits({ scope }: Lease, store: RecordStore): RateLimits {
  const { rates } = store.policy;
  const usual = usualRates(scope, store);
  return {
    messages_per_second: rates?.messages_per_second ?? usual.messages_per_second,
    calls_per_minute: rates?.calls_per_minute ?? usual.calls_per_minute,
    calls_at_once: rates?.calls_per_minute ?? usual.calls_at_once,
  };
}

function usualRates({ owner, ports }: GrantScope, store: RecordStore): RateLimits {
  if (owner) return RATES.owner;
  if (ports) return RATES.visit;
  return isBare(store) ? RATES.bare : RATES.guest;
}

function toolNotFound(tool: string, grant: GrantScope, store: RecordStore): MatrxError {
  const near = nearestName(tool, namesLike(tool, toolNames(grant, store)));
  return relayError("TOOL_NOT_FOUND", `The device has no tool "${tool}"`, {
    hint: near
      ? `Did you mean ${near}?`
      : `You can call: ${callableNames(tool, grant, store).join(", ") || "none"}`,
    details: near ? { tool, did_you_mean: near } : { tool },
  });
}

function tooManyCalls({ calls_per_minute, calls_at_once }: RateLimits): string {
  const atOnce = calls_at_once < calls_per_minute ? `, or ${calls_at_once} at once` : "";
  return `More than ${calls_per_minute} calls per minute${atOnce}`;
}

function tooFast(message: string, waitMs: number): MatrxError {
  const advice = "the owner can raise the rates in the device's policy";
  return relayError("RATE_LIMITED", message, retryIn(waitMs, advice));
}

function tooMany(unanswered: number): MatrxError {
  return relayError("RATE_LIMITED", `The device has ${unanswered} unanswered calls`, {
    hint: "Wait until some of them are answered",
  });
}

export function unreadablePolicy(): MatrxError {
  return relayError(
    "PERMISSION_DENIED",
    "All calls are refused because the device's policy at the relay is damaged, or from a newer relay",
    { hint: "Its owner can set it again: matrx policy DEVICE --set FILE; or update the relay" },
  );
}

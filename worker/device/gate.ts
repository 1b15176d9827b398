/** The relay's gate: may this grant call this tool here, now? Synchronous; the agent checks again. */
import { DEVICE_DOCUMENT_TOOLS, effectOf, nearestName, toolNameOf } from "@matrx/shared/effects.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { LIMITS, RATES, TIMES } from "@matrx/shared/limits.ts";
import { type Policy, refusalOf } from "@matrx/shared/policy.ts";
import type { Manifest } from "@matrx/shared/tool.ts";
import type { AdmittedCall } from "./calls.ts";
import type { Lease } from "./leases.ts";
import type { RateLimits, Rates } from "./rates.ts";

export interface GateKeeping {
  policy: Policy;
  manifest: Manifest | undefined;
  /** A bare device announces nothing: any name is passed on to it. */
  bare: boolean;
  rates: Rates;
  /** Calls under way on this device, over all callers. */
  underWay: number;
}

/** What the gate finds out about a call that it lets pass. */
export type Passed = Pick<AdmittedCall, "tool" | "effect" | "toolTimeoutMs">;

/** Throws MatrxError: `PERMISSION_DENIED`, `TOOL_NOT_FOUND`, `RATE_LIMITED`. */
export function passGate(name: string, lease: Lease, keeping: GateKeeping, now: number): Passed {
  const tool = keeping.manifest?.tools.some((known) => known.name === name) ? name : toolNameOf(name);
  const refusal = refusalOf({ tool, grant: lease.scope, policy: keeping.policy }, "relay");
  if (refusal) throw new MatrxError(refusal);
  const known = keeping.manifest?.tools.find((candidate) => candidate.name === tool);
  if (!known && !keeping.bare && keeping.manifest) throw toolNotFound(tool, toolNames(keeping));
  if (!keeping.rates.takeCall(lease.scope.id, rateLimits(lease, keeping.policy), now))
    throw tooManyCalls(keeping.policy, lease);
  if (keeping.underWay >= LIMITS.unansweredPerDevice) throw deviceBusy();
  return { tool, effect: effectOf(tool), toolTimeoutMs: known?.timeout_ms ?? TIMES.callDefault };
}

/** Throws MatrxError `RATE_LIMITED` when a grant sends more messages than it may. */
export function passMessage(lease: Lease, keeping: Pick<GateKeeping, "policy" | "rates">, now: number): void {
  const limits = rateLimits(lease, keeping.policy);
  if (keeping.rates.takeMessage(lease.scope.id, limits, now)) return;
  throw tooMany(`More than ${limits.messages_per_second} messages in a second`);
}

/** The names that a device answers to, as its policy leaves them. */
export function toolNames({
  manifest,
  bare,
  policy,
}: Pick<GateKeeping, "manifest" | "bare" | "policy">): string[] {
  const names = manifest?.tools.map(({ name }) => name) ?? (bare ? [...DEVICE_DOCUMENT_TOOLS] : []);
  const { allowed_tools } = policy;
  return (allowed_tools ? names.filter((name) => allowed_tools.includes(name)) : names).sort();
}

function rateLimits(lease: Lease, { rates }: Policy): RateLimits {
  const usual = lease.scope.owner ? RATES.owner : RATES.guest;
  return {
    messages_per_second: rates?.messages_per_second ?? usual.messages_per_second,
    calls_per_minute: rates?.calls_per_minute ?? usual.calls_per_minute,
  };
}

function toolNotFound(tool: string, names: readonly string[]): MatrxError {
  const near = nearestName(tool, names);
  return new MatrxError({
    code: "TOOL_NOT_FOUND",
    message: `The device has no tool "${tool}"`,
    hint: near ? `Did you mean ${near}?` : `It has: ${names.join(", ")}`,
    hop: "relay",
    details: near ? { tool, near } : { tool },
  });
}

function tooManyCalls(policy: Policy, lease: Lease): MatrxError {
  return tooMany(`More than ${rateLimits(lease, policy).calls_per_minute} calls in a minute`);
}

function deviceBusy(): MatrxError {
  return tooMany(`The device has ${LIMITS.unansweredPerDevice} calls without an answer`);
}

function tooMany(message: string): MatrxError {
  const hint = "Wait a moment; the owner can raise the rates in the device's policy";
  return new MatrxError({ code: "RATE_LIMITED", message, hint, hop: "relay" });
}

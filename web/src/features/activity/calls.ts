/** Calls that are over, as the feed shows them: told live, or read from the account's record. */
import type { ActivityEntry } from "@matrx/shared/activity.ts";
import type { Effect } from "@matrx/shared/effects.ts";
import type { Credential } from "@matrx/shared/grant.ts";
import { isPageLook } from "../../relay/page-looks.ts";
import type { Answer } from "../../relay/routes.ts";

export type AuditEntry = Answer<"GET /v1/audit">["entries"][number];
export type AuditCall = Extract<AuditEntry, { type: "call" | "denied" }>;

/** `refused`: nothing ran; `expired`: it never reached the machine. */
export type CallOutcome = "success" | "error" | "cancelled" | "unknown" | "refused" | "expired";

/** Who made a call: by name, or else by id. */
export interface Maker {
  readonly id: string;
  readonly name?: string | undefined;
  readonly credential?: Credential | undefined;
}

export interface EndedCall {
  readonly call: string;
  readonly device: string;
  /** Empty if the relay no longer knows. */
  readonly tool: string;
  readonly effect: Effect;
  readonly maker: Maker;
  /** Parameters, shortened and without secrets. */
  readonly input: Readonly<Record<string, string>>;
  readonly outcome: CallOutcome;
  readonly code?: string | undefined;
  readonly exit?: number | undefined;
  readonly ms?: number | undefined;
  readonly preview?: string | undefined;
  /** When it ended. */
  readonly at: string;
  /** How many equal ones were refused within a minute. */
  readonly times?: number | undefined;
}

/** Calls that were told as they ended. */
export function liveCalls(entries: readonly ActivityEntry[]): EndedCall[] {
  return entries.flatMap((entry) => (entry.type === "started" ? [] : [liveCall(entry)]));
}

function liveCall(entry: Exclude<ActivityEntry, { type: "started" }>): EndedCall {
  const { grant, ...rest } = entry;
  return {
    ...rest,
    maker: grant,
    outcome: entry.type === "refused" ? "refused" : entry.status,
    ms: entry.type === "refused" ? undefined : entry.ms,
  };
}

/** A call that the record tells of; undefined: the entry is no end of a call. */
export function recordedCall(entry: AuditEntry): EndedCall | undefined {
  if (entry.type !== "call" && entry.type !== "denied") return undefined;
  if (entry.type === "call" && entry.status === "running") return undefined;
  const { call, device = "", tool = "", effect, by, input = {}, code, at } = entry;
  const known = {
    call,
    device,
    tool,
    effect,
    maker: { id: by?.grant ?? "", name: by?.name, credential: by?.credential },
    input,
    code,
    at,
  };
  if (entry.type === "denied")
    return { ...known, outcome: "refused", preview: entry.message, times: entry.times };
  const { status, exit, ms, preview } = entry;
  return { ...known, outcome: status === "running" ? "unknown" : status, exit, ms, preview };
}

/** The newest first, each once: what was told live says more. */
export function mergedCalls(live: readonly EndedCall[], recorded: readonly EndedCall[]): EndedCall[] {
  const byId = new Map<string, EndedCall>();
  for (const call of [...live, ...recorded]) if (!byId.has(call.call)) byId.set(call.call, call);
  return [...byId.values()].sort((one, other) => (one.at < other.at ? 1 : -1));
}

/** A page looked by itself, for a person: of no interest, unless it fails. What an AI or a script looked at is not hidden. */
export function isLook({ tool, input, outcome, maker }: EndedCall): boolean {
  return maker.credential === "person" && outcome === "success" && isPageLook(tool, input);
}

/** It did not do what was asked, for another reason than a person's word. */
export function isError({ outcome, code, exit }: EndedCall): boolean {
  if (outcome === "cancelled" || code === "APPROVAL_DENIED") return false;
  return outcome !== "success" || (exit ?? 0) !== 0;
}

/** What happens on all machines of the account, as the relay tells it: calls, approvals, the pause. Nothing of it is kept. */
import type { ToPerson } from "@matrx/shared/account-frames.ts";
import type { ActivityEntry, StartedCall } from "@matrx/shared/activity.ts";
import type { ApprovalView } from "@matrx/shared/approval.ts";
import type { PauseView } from "@matrx/shared/pause-api.ts";
import { create } from "zustand";
import { api } from "./api.ts";
import { knownEntries } from "./frames.ts";

/** How many calls that ended are shown. */
const KEPT = 300;

interface Live {
  /** Calls that run, by id, in the order in which they began. */
  readonly running: ReadonlyMap<string, StartedCall>;
  /** Calls that ended or were refused, the newest first. */
  readonly ended: readonly ActivityEntry[];
  /** Entries that the relay left out because this page read too slowly. */
  readonly missed: number;
  /** Machines that could not be asked what runs there. */
  readonly unknown: ReadonlySet<string>;
  /** Approvals by id: those that wait, and those that were decided since the page was opened. */
  readonly approvals: ReadonlyMap<string, ApprovalView>;
  readonly pause: PauseView | undefined;
}

const NOTHING: Live = {
  running: new Map(),
  ended: [],
  missed: 0,
  unknown: new Set(),
  approvals: new Map(),
  pause: undefined,
};

export const useLive = create<Live>(() => NOTHING);

/** Nothing of an account stays on the screen, whoever is signed in next. */
export function clearLive(): void {
  useLive.setState(NOTHING);
}

/** A frame of the account link. */
export function takeFrame(frame: ToPerson): void {
  if (frame.type === "hello") useLive.setState({ pause: frame.pause });
  else if (frame.type === "paused") useLive.setState({ pause: frame.pause });
  else if (frame.type === "approval") takeApproval(frame.approval);
  else if (frame.type === "running") setRunning(frame.device, frame.calls);
  else if (frame.type === "activity") takeEntries(knownEntries(frame.entries), frame.missed ?? 0);
}

/** Reads what waits now, and what became of what waited before. Throws ApiError. */
export async function readApprovals(): Promise<void> {
  const before = [...waiting(useLive.getState())];
  const { approvals } = await api("GET /v1/approvals");
  const now = new Set(approvals.map(({ id }) => id));
  for (const approval of approvals) takeApproval(approval);
  const gone = before.filter(({ id }) => !now.has(id));
  const looked = await Promise.allSettled(gone.map(readApproval));
  for (const look of looked) if (look.status === "fulfilled") takeApproval(look.value);
}

/** One approval as it stands now. Throws ApiError. */
export function readApproval({ device, id }: Pick<ApprovalView, "device" | "id">) {
  return api("GET /v1/devices/{device}/approvals/{approval}", { path: { device, approval: id } });
}

/** News of an approval; the same may come twice, or late: a decision is final. */
export function takeApproval(approval: ApprovalView): void {
  useLive.setState(({ approvals }) => {
    const known = approvals.get(approval.id);
    if (known && known.state !== "pending") return {};
    return { approvals: new Map(approvals).set(approval.id, approval) };
  });
}

/** Approvals that wait for a decision, the oldest first. */
export function waiting({ approvals }: Pick<Live, "approvals">): ApprovalView[] {
  return [...approvals.values()].filter(({ state }) => state === "pending");
}

/** All that runs on a machine; null: it could not be asked. */
function setRunning(device: string, calls: readonly StartedCall[] | null): void {
  useLive.setState(({ running, unknown }) => {
    const others = new Set(unknown);
    if (calls === null) return { unknown: others.add(device) };
    others.delete(device);
    const elsewhere = [...running].filter(([, call]) => call.device !== device);
    return {
      unknown: others,
      running: new Map([...elsewhere, ...calls.map((call) => [call.call, call] as const)]),
    };
  });
}

function takeEntries(entries: readonly ActivityEntry[], missed: number): void {
  useLive.setState((live) => {
    const running = new Map(live.running);
    const ended: ActivityEntry[] = [];
    for (const entry of entries) {
      if (entry.type === "started") running.set(entry.call, entry);
      else {
        running.delete(entry.call);
        ended.unshift(entry);
      }
    }
    return { running, ended: [...ended, ...live.ended].slice(0, KEPT), missed: live.missed + missed };
  });
}

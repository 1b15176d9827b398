/** Sees every call begin and end, and every one that is refused. It never throws, and nothing waits for it. */
import type { StartedCall } from "@matrx/shared/activity.ts";
import type { WantedCall } from "@matrx/shared/caller/port.ts";
import { effectOfCall, toolNameOf } from "@matrx/shared/effects.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import type { CallId, GrantId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { answerPreview, previewOf } from "@matrx/shared/redact.ts";
import type { Holder, Lease, Leases } from "../leases.ts";
import type { PendingCall } from "../ledger/call.ts";
import { InputPreview } from "../ledger/input-preview.ts";
import type { ActivityFeed } from "./activity.ts";
import type { AuditFeed } from "./audit.ts";
import type { CallEnd } from "./call-end.ts";
import { Denials } from "./denials.ts";
import { begunDraft, deniedDraft, endDraft } from "./drafts.ts";

interface Parts {
  readonly activity: ActivityFeed;
  readonly audit: AuditFeed;
  readonly leases: Pick<Leases, "current">;
  /** The device's id; empty if it has none. */
  readonly device: () => string;
  /** Has this object look, in milliseconds since 1970. */
  readonly lookBy: (at: number) => void;
}

const TOOL_CHARS = 128;

export class Observer {
  readonly #parts: Parts;
  readonly #denials = new Denials();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** A call is on its way to the device. */
  started(pending: PendingCall, now: number): void {
    if (pending.isReplay) return;
    const { activity, audit } = this.#parts;
    if (!pending.recorded) audit.expectRead();
    if (activity.isWatched(now)) activity.note(this.#startedEntry(pending, now), now);
  }

  /** A call has ended, whoever ended it. */
  ended(pending: PendingCall, end: CallEnd, now: number): void {
    if (pending.isReplay) return;
    const { activity, audit } = this.#parts;
    if (pending.recorded) audit.recorded(pending.call, now);
    else audit.note(() => endDraft(pending, end, this.#place(pending, now), now), now);
    if (activity.isWatched(now)) this.#noteEnd(pending, end, now);
  }

  /** More is known of the end of a call that has a row. */
  recorded(call: CallId, now: number): void {
    this.#parts.audit.recorded(call, now);
  }

  /** A call was refused before anything was sent or written. */
  refused(wanted: WantedCall, lease: Lease, error: ErrorShape, now: number): void {
    const { activity, audit, device } = this.#parts;
    const { code, message } = error;
    const tool = toolNameOf(wanted.tool).slice(0, TOOL_CHARS);
    const grant = lease.scope.id as GrantId;
    const told = this.#denials.note(
      { grant, code, tool },
      () => deniedDraft(wanted, lease, error, device(), now),
      now,
    );
    if (told) audit.keep(told(), now);
    else if (this.#denials.hasCounts) this.#counted(now);
    if (!activity.isWatched(now)) return;
    const effect = effectOfCall(tool, () => JSON.parse(wanted.input));
    const input = new InputPreview(wanted.tool, wanted.input);
    const seen = this.#seen({ call: wanted.call, tool, effect, grant, holder: lease.holder, input }, now);
    activity.note({ ...seen, type: "refused", ms: 0, code, preview: previewOf(message) }, now);
  }

  /** What runs now. */
  running(pendingCalls: readonly PendingCall[]): StartedCall[] {
    return pendingCalls
      .filter(({ phase, isReplay }) => phase !== "parked" && !isReplay)
      .map((pending) => this.#startedEntry(pending, begunAt(pending)));
  }

  /** Tells the record of calls that take long, so that it knows them if this object sleeps. Returns when to look again. */
  settle(pendingCalls: readonly PendingCall[], now: number): number | undefined {
    const { audit } = this.#parts;
    for (const told of this.#denials.due(now, !audit.isBusy)) audit.note(told, now);
    const untold = pendingCalls.filter(({ input, isTold, phase }) => input && !isTold && phase !== "parked");
    const long = untold.filter((pending) => now - begunAt(pending) >= TIMES.settleAfter);
    for (const pending of long) {
      pending.isTold = true;
      audit.note(() => begunDraft(pending, this.#place(pending, now), begunAt(pending)), now);
    }
    const hasUntoldReads = untold.some((pending) => !pending.recorded && !long.includes(pending));
    return audit.settle(now, hasUntoldReads || this.#denials.hasCounts);
  }

  /** A refusal is only counted, in memory. */
  #counted(now: number): void {
    const { audit, lookBy } = this.#parts;
    audit.expectRead();
    audit.mark(now);
    lookBy(now + TIMES.settleAfter);
  }

  #noteEnd(pending: PendingCall, { status, code, exit, ms, preview = "" }: CallEnd, now: number): void {
    const ending = { ms, ...(code && { code }), preview: answerPreview(pending.tool, preview) };
    const seen = this.#seen(pending, now);
    this.#parts.activity.note(
      pending.phase === "parked"
        ? { ...seen, type: "refused", ...ending }
        : { ...seen, type: "finished", status, ...(exit !== undefined && { exit }), ...ending },
      now,
    );
  }

  #startedEntry(pending: PendingCall, at: number): StartedCall {
    return { ...this.#seen(pending, at), type: "started" };
  }

  /** After hibernation the grant's lease still tells who holds it. */
  #place(
    { grant, holder }: Pick<PendingCall, "grant" | "holder">,
    now: number,
  ): { device: string; holder: Holder | undefined } {
    const known = holder ?? this.#parts.leases.current(grant, now)?.holder;
    return { device: this.#parts.device(), holder: known };
  }

  #seen(called: Described, at: number): Seen {
    const { call, tool, effect, grant, input } = called;
    const { device, holder } = this.#place(called, at);
    return {
      ...{ at: iso(at), call, device, tool, effect, input: input?.parameters ?? {} },
      grant: { id: grant, ...holder },
    };
  }
}

type Seen = Omit<StartedCall, "type">;

type Described = Pick<PendingCall, "call" | "tool" | "effect" | "grant" | "holder" | "input">;

/** When it was sent to the device, or is about to be. */
function begunAt({ releasedAt, created }: PendingCall): number {
  return releasedAt ?? created;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

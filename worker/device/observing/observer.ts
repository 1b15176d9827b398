/** Sees every call begin and end, and every one that is refused. It never throws, and nothing waits for it. */
import type { StartedCall } from "@matrx/shared/activity.ts";
import { type Effect, effectOf, toolNameOf } from "@matrx/shared/effects.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import { makeCallId } from "@matrx/shared/ids.ts";
import { previewOf } from "@matrx/shared/redact.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import type { WantedCall } from "../calls/call.ts";
import type { PendingCall } from "../calls/pending.ts";
import type { Leases } from "../leases.ts";
import type { ActivityFeed } from "./activity.ts";
import { Asked } from "./asked.ts";

/** How a call ended, as far as the relay knows. */
export interface CallEnd extends Pick<ResultHeader, "code" | "exit" | "preview"> {
  readonly status: ResultHeader["status"] | "unknown";
  readonly ms: number;
}

interface Parts {
  readonly activity: ActivityFeed;
  readonly leases: Pick<Leases, "current">;
  /** The device's id; empty if it has none. */
  readonly device: () => string;
}

const TOOL_CHARS = 128;

export class Observer {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** A call is on its way to the device. */
  started(pending: PendingCall, now: number): void {
    const { activity } = this.#parts;
    if (activity.isWatched(now) && !pending.isReplay) activity.note(this.#startedEntry(pending, now), now);
  }

  /** A call has ended, whoever ended it. */
  ended(pending: PendingCall, end: CallEnd, now: number): void {
    const { activity } = this.#parts;
    if (!activity.isWatched(now) || pending.isReplay) return;
    const { status, code, exit, ms, preview = "" } = end;
    const ending = { ms, ...(code && { code }), preview: previewOf(preview) };
    const seen = this.#seen(pending, now);
    activity.note(
      pending.phase === "parked"
        ? { ...seen, type: "refused", ...ending }
        : { ...seen, type: "finished", status, ...(exit !== undefined && { exit }), ...ending },
      now,
    );
  }

  /** A call was refused before anything was sent or written. */
  refused(wanted: WantedCall, { code, message }: ErrorShape, now: number): void {
    const { activity } = this.#parts;
    if (!activity.isWatched(now)) return;
    const tool = toolNameOf(wanted.tool).slice(0, TOOL_CHARS);
    const call = wanted.call ?? makeCallId(now);
    const seen = this.#described({ call, tool, effect: effectOf(tool), asked: new Asked(wanted) }, now);
    activity.note({ ...seen, type: "refused", ms: 0, code, preview: previewOf(message) }, now);
  }

  /** What runs now. */
  running(pendingCalls: readonly PendingCall[]): StartedCall[] {
    return pendingCalls
      .filter(({ phase, isReplay }) => phase !== "parked" && !isReplay)
      .map((pending) => this.#startedEntry(pending, pending.releasedAt ?? pending.created));
  }

  #startedEntry(pending: PendingCall, at: number): StartedCall {
    return { ...this.#seen(pending, at), type: "started" };
  }

  /** After hibernation the grant's lease still tells who holds it. */
  #seen({ call, tool, effect, grant, asked }: PendingCall, at: number): Seen {
    if (asked) return this.#described({ call, tool, effect, asked }, at);
    const name = this.#parts.leases.current(grant, at)?.holder?.name;
    return {
      ...{ at: iso(at), call, device: this.#parts.device(), tool, effect, input: {} },
      grant: { id: grant, ...(name !== undefined && { name }) },
    };
  }

  #described({ call, tool, effect, asked }: Described, at: number): Seen {
    const { grant, holder } = asked;
    return {
      ...{ at: iso(at), call, device: this.#parts.device(), tool, effect, input: asked.preview },
      grant: { id: grant, ...(holder && { name: holder.name }) },
    };
  }
}

type Seen = Omit<StartedCall, "type">;

interface Described {
  readonly call: string;
  readonly tool: string;
  readonly effect: Effect;
  readonly asked: Asked;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** What happened on an account's machines, as messages to its people's browsers. */
import type { ApprovalView } from "@matrx/shared/approval.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import type { PushKind, QuietHours } from "@matrx/shared/push-api.ts";
import type { PushMessage } from "@matrx/shared/push-message.ts";
import type { NewMessage, PushMessages } from "./messages.ts";
import { isQuiet } from "./quiet-hours.ts";
import type { PushSubscriptions, Subscription } from "./subscriptions.ts";

/** An event that warns, as a device tells it. */
export interface Alert {
  readonly event_type: string;
  readonly key: string | null;
  readonly severity: "warning" | "critical";
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A long call that ended, as a device tells it. */
export interface LongCall {
  readonly call: string;
  readonly tool: string;
  readonly status: "success" | "error" | "unknown";
}

interface NewsHost {
  readonly kv: SyncKvStorage;
  readonly subscriptions: PushSubscriptions;
  readonly messages: PushMessages;
  /** A device's name. */
  readonly nameOf: (device: string) => string;
}

const SETTINGS = "push_settings";
const TOOL_CHARS = 64;

export class PushNews {
  readonly #host: NewsHost;

  constructor(host: NewsHost) {
    this.#host = host;
  }

  get quietHours(): QuietHours | null {
    return this.#host.kv.get<QuietHours>(SETTINGS) ?? null;
  }

  setQuietHours(hours: QuietHours | null): void {
    if (hours) this.#host.kv.put(SETTINGS, hours);
    else this.#host.kv.delete(SETTINGS);
  }

  /** A call waits for a decision, or no longer does. One that is decided at once is not worth a message. */
  approval(approval: ApprovalView, now: number): void {
    const { id, device, tool, state, at } = approval;
    const machine = this.#host.nameOf(device);
    const about = `approval ${id}`;
    const text = textOf({
      ...{ kind: "approval", state, approval: id, device, machine, tool: tool.slice(0, TOOL_CHARS) },
      at_machine: at === "machine",
    });
    if (state !== "pending") {
      const role = "settled";
      return this.#host.messages.settle({
        ...{ about, text, role, urgency: "normal", expires: now + TIMES.approval, due: now },
      });
    }
    const expires = Date.parse(approval.expires);
    const due = now + TIMES.pushApprovalAfter;
    this.#tell("approvals", { about, text, role: "question", urgency: "high", expires, due }, now);
  }

  alert(device: string, { event_type, key, severity, at }: Alert, now: number): void {
    const expires = at + TIMES.pushKept;
    if (expires <= now) return;
    const machine = this.#host.nameOf(device);
    const message = { kind: "alert", device, machine, event_type, severity } as const;
    const urgency = severity === "critical" ? "high" : "normal";
    const about = `alert ${JSON.stringify([device, event_type, key])}`;
    this.#tell("alerts", { about, text: textOf(message), role: "news", urgency, expires, due: now }, now);
  }

  finished(device: string, { call, tool, status }: LongCall, now: number): void {
    const machine = this.#host.nameOf(device);
    const message = {
      kind: "finished",
      device,
      machine,
      call,
      tool: tool.slice(0, TOOL_CHARS),
      status,
    } as const;
    const [about, expires] = [`call ${call}`, now + TIMES.pushKept];
    this.#tell(
      "finished",
      { about, text: textOf(message), role: "news", urgency: "normal", expires, due: now },
      now,
    );
  }

  #tell(kind: PushKind, message: NewMessage, now: number): void {
    for (const subscription of this.#recipients(kind, now)) this.#host.messages.add(subscription, message);
  }

  #recipients(kind: PushKind, now: number): Subscription[] {
    const quiet = this.quietHours;
    const passes = kind === "approvals" && quiet?.approvals;
    if (quiet && !passes && isQuiet(quiet, now)) return [];
    return this.#host.subscriptions.list(now).filter(({ kinds }) => kinds.includes(kind));
  }
}

function textOf(message: PushMessage): string {
  return JSON.stringify(message);
}

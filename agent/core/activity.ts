/** What callers do on this machine, as it happens. The latest entries are kept in memory only. */
import { effectOf, effectSchema, toolNameOf } from "@matrx/shared/effects.ts";
import { ERROR_CODES } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import * as z from "zod";
import { isLocalGrant } from "./journal-entry.ts";
import { pausedSchema } from "./pause.ts";
import { inputPreview, previewOf } from "./redact.ts";

const at = z.iso.datetime();

const callSchema = z.object({
  at,
  call: z.string(),
  /** Whence it came: over the relay, or from a program on this machine. */
  surface: z.enum(["relay", "local"]),
  /** Names are there if the relay tells them. */
  grant: z.object({ id: z.string(), owner: z.boolean(), name: z.string().optional() }),
  tool: z.string(),
  effect: effectSchema,
  /** The parameters, shortened and without secrets. */
  input: z.record(z.string(), z.string()),
});
const endSchema = z.object({ ms: z.number(), code: z.enum(ERROR_CODES).optional(), preview: z.string() });

export const activityEntrySchema = z.discriminatedUnion("type", [
  callSchema.extend({ type: z.literal("started") }),
  callSchema.extend({
    type: z.literal("finished"),
    status: z.enum(["success", "error", "cancelled"]),
    exit: z.number().optional(),
    ...endSchema.shape,
  }),
  /** Nothing ran. */
  callSchema.extend({ type: z.literal("refused"), ...endSchema.shape }),
  z.object({ type: z.literal("paused"), at, paused: pausedSchema }),
  z.object({ type: z.literal("resumed"), at }),
  z.object({ type: z.enum(["connected", "disconnected"]), at }),
]);
export type ActivityEntry = z.infer<typeof activityEntrySchema>;

/** How many entries are kept. */
const KEPT = 200;

export class Activity {
  readonly #recent: ActivityEntry[] = [];
  readonly #listeners = new Set<(entry: ActivityEntry) => void>();
  #isConnected = false;

  /** The latest entries, newest last. */
  recent(): readonly ActivityEntry[] {
    return this.#recent;
  }

  /** Calls the listener with each new entry. Returns a function that unsubscribes. */
  subscribe(listener: (entry: ActivityEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  note(entry: ActivityEntry): void {
    this.#recent.push(entry);
    if (this.#recent.length > KEPT) this.#recent.shift();
    for (const listener of this.#listeners) listener(entry);
  }

  /** The link to the relay is up, or not. */
  noteLink(isConnected: boolean): void {
    if (isConnected === this.#isConnected) return;
    this.#isConnected = isConnected;
    this.note({ type: isConnected ? "connected" : "disconnected", at: now() });
  }
}

/** One call, as activity shows it. */
export class ObservedCall {
  readonly #activity: Activity;
  readonly #call: z.infer<typeof callSchema>;
  #hasStarted = false;

  constructor(activity: Activity, request: ObservedRequest) {
    const { call, grant, input } = request;
    const tool = toolNameOf(request.tool).slice(0, 128);
    this.#activity = activity;
    this.#call = {
      ...{ at: now(), call, tool, effect: effectOf(tool) },
      surface: isLocalGrant(grant.id) ? "local" : "relay",
      grant: { id: grant.id, owner: grant.owner },
      input: inputPreview(input),
    };
  }

  /** Its tool begins. */
  started(): void {
    this.#hasStarted = true;
    this.#activity.note({ ...this.#call, type: "started" });
  }

  /** Its outcome is known; `text` is the output or the error's message. */
  ended({ status, code, exit, ms, preview }: ResultHeader, text: string): void {
    const end = { at: now(), ms, ...(code && { code }), preview: preview ?? previewOf(text) };
    if (!this.#hasStarted) return this.#activity.note({ ...this.#call, ...end, type: "refused" });
    const ran = { status, ...(exit !== undefined && { exit }) };
    this.#activity.note({ ...this.#call, ...end, ...ran, type: "finished" });
  }
}

interface ObservedRequest {
  readonly call: string;
  readonly tool: string;
  readonly grant: GrantScope;
  readonly input: Record<string, unknown>;
}

function now(): string {
  return new Date().toISOString();
}

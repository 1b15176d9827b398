/** What callers do on this machine, as it happens. The latest entries are kept in memory only. */
import { callEndSchema, observedCallSchema } from "@matrx/shared/activity.ts";
import { effectOfCall, toolNameOf } from "@matrx/shared/effects.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { type Paused, pausedSchema } from "@matrx/shared/paused.ts";
import { answerPreview, beginningOf, inputBeginnings, inputPreview } from "@matrx/shared/redact.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import * as z from "zod";
import { isLocalGrant } from "./journal-entry.ts";

const at = z.iso.datetime();

const callSchema = observedCallSchema.extend({
  /** Whence it came: over the relay, or from a program on this machine. */
  surface: z.enum(["relay", "local"]),
  /** Names are there if the relay tells them. */
  grant: z.object({ id: z.string(), owner: z.boolean(), name: z.string().optional() }),
});

export const activityEntrySchema = z.discriminatedUnion("type", [
  callSchema.extend({ type: z.literal("started") }),
  callSchema.extend({
    type: z.literal("finished"),
    status: z.enum(["success", "error", "cancelled"]),
    exit: z.number().optional(),
    ...callEndSchema.shape,
  }),
  /** Nothing ran. */
  callSchema.extend({ type: z.literal("refused"), ...callEndSchema.shape }),
  z.object({ type: z.literal("paused"), at, paused: pausedSchema }),
  z.object({ type: z.literal("resumed"), at }),
  z.object({ type: z.enum(["connected", "disconnected"]), at }),
]);
export type ActivityEntry = z.infer<typeof activityEntrySchema>;

/** How many entries are kept. */
const KEPT = 200;

export class Activity {
  readonly #recent: (() => ActivityEntry)[] = [];
  readonly #listeners = new Set<(entry: ActivityEntry) => void>();
  #isConnected = false;

  /** The latest entries, newest last. */
  recent(): ActivityEntry[] {
    return this.#recent.map((describe) => describe());
  }

  /** Calls the listener, which must not throw, with each new entry. Returns a function that unsubscribes. */
  subscribe(listener: (entry: ActivityEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Keeps an entry, which is described only if somebody looks: masking secrets takes longer than many calls. */
  note(describe: () => ActivityEntry): void {
    this.#recent.push(describe);
    if (this.#recent.length > KEPT) this.#recent.shift();
    if (this.#listeners.size === 0) return;
    const entry = describe();
    for (const listener of this.#listeners) listener(entry);
  }

  /** The link to the relay is up, or not. */
  noteLink(isConnected: boolean): void {
    if (isConnected === this.#isConnected) return;
    this.#isConnected = isConnected;
    const at = now();
    this.note(() => ({ type: isConnected ? "connected" : "disconnected", at }));
  }

  /** Whom the machine is closed to has changed. */
  notePause(paused: Paused | undefined): void {
    const at = now();
    this.note(() => (paused ? { type: "paused", at, paused } : { type: "resumed", at }));
  }
}

/** One call, as activity shows it. */
export class ObservedCall {
  readonly #activity: Activity;
  readonly #describe: () => Omit<z.infer<typeof callSchema>, "at">;
  readonly #tool: string;
  #hasStarted = false;

  constructor(activity: Activity, { call, tool: called, grant: { id, owner }, input }: ObservedRequest) {
    const beginnings = inputBeginnings(called, input);
    const tool = toolNameOf(called).slice(0, 128);
    this.#tool = tool;
    this.#activity = activity;
    const effect = effectOfCall(tool, () => input);
    this.#describe = () => ({
      ...{ call, tool, effect },
      surface: isLocalGrant(id) ? "local" : "relay",
      grant: { id, owner },
      input: inputPreview(beginnings),
    });
  }

  /** Its tool begins. */
  started(): void {
    this.#hasStarted = true;
    const at = now();
    this.#activity.note(() => ({ ...this.#describe(), at, type: "started" }));
  }

  /** Its outcome is known; `text` is the output or the error's message. */
  ended({ status, code, exit, ms, preview }: ResultHeader, text: string): void {
    const beginning = beginningOf(preview ?? text);
    const [at, ran] = [now(), this.#hasStarted];
    this.#activity.note(() => {
      const end = { at, ms, ...(code && { code }), preview: answerPreview(this.#tool, beginning) };
      if (!ran) return { ...this.#describe(), ...end, type: "refused" };
      return { ...this.#describe(), ...end, type: "finished", status, ...(exit !== undefined && { exit }) };
    });
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

/** A device over the caller API: each call is a stream of events. */
import { createParser } from "eventsource-parser";
import type * as z from "zod";
import { approvalEventSchema, problemSchema } from "../api.ts";
import type { CallApproval } from "../approval.ts";
import type { OpenStream, OpenTools, RecordingPort } from "../caller/port.ts";
import type { Answer } from "../caller/to-caller.ts";
import { progressSchema } from "../content.ts";
import { type ErrorShape, relayError } from "../errors.ts";
import { type CallId, makeCallId } from "../ids.ts";
import { TIMES } from "../limits.ts";
import type { pendingCallSchema } from "../openapi/bodies.ts";
import { type CallEnd, type CallWatcher, CLIENT_GONE, type McpCall, type McpDevice } from "./device.ts";

export interface StreamPort
  extends Pick<RecordingPort, "device" | "openTools" | "streamCall" | "attach" | "cancelCall"> {
  /** Asks a call to stop that one reader no longer wants. Resolves with false if others wait for it: it goes on. */
  cancelUnshared(call: CallId): Promise<boolean>;
}

export class StreamedDevice implements McpDevice {
  readonly device: string;
  readonly approvalsUrl: string;
  readonly #port: StreamPort;
  readonly #origin: string;

  /** `origin` is the relay's address. */
  constructor(port: StreamPort, origin: string) {
    this.device = port.device;
    this.approvalsUrl = `${origin}/`;
    this.#port = port;
    this.#origin = origin;
  }

  openTools(): Promise<OpenTools> {
    return this.#port.openTools("own");
  }

  async call(
    { tool, input, session, live, isNamedEarly }: McpCall,
    watcher: CallWatcher,
    signal: AbortSignal,
  ) {
    const call = makeCallId();
    const stream = await this.#port.streamCall({
      ...{ call, tool, session, input: JSON.stringify(input) },
      ...{ quiet: !live, repeats: true, isNameless: !isNamedEarly, waitMs: TIMES.mcpWait },
    });
    return await this.#follow(stream, watcher, signal);
  }

  async wait(call: CallId, watcher: CallWatcher, signal: AbortSignal): Promise<CallEnd> {
    return await this.#follow(await this.#port.attach(call, TIMES.mcpWait), watcher, signal);
  }

  cancel(call: CallId): Promise<void> {
    return this.#port.cancelCall(call);
  }

  recordUrl(call: string): string {
    return `${this.#origin}/v1/devices/${this.device}/calls/${call}`;
  }

  /** The client is gone, or cancelled its request: then the call stops, unless another request waits for it. */
  async #leave(call: CallId, reader: ReadableStreamDefaultReader, { reason }: AbortSignal): Promise<void> {
    const stops = reason !== CLIENT_GONE && (await this.#port.cancelUnshared(call));
    if (!stops) await reader.cancel();
  }

  /** Reads a call's events up to the last one. */
  async #follow({ call, body }: OpenStream, watcher: CallWatcher, signal: AbortSignal): Promise<CallEnd> {
    const reader = body.getReader();
    // A call that has just ended answers all the same.
    const stop = () => {
      this.#leave(call, reader, signal).catch(() => undefined);
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
    try {
      const events = new CallEventReader(call, watcher);
      const decoder = new TextDecoder();
      for (;;) {
        const { done, value } = await reader.read().catch(whenLeft(signal));
        const end = done ? events.brokenOff() : events.read(decoder.decode(value, { stream: true }));
        if (end) return end;
      }
    } finally {
      signal.removeEventListener("abort", stop);
      await reader.cancel().catch(() => undefined);
    }
  }
}

/** What is left of a stream whose reader cancelled it, because its client no longer wants it. */
function whenLeft(signal: AbortSignal) {
  return (error: unknown) => {
    if (!signal.aborted) throw error;
    return { done: true, value: undefined } as const;
  };
}

/** What the events of a call mean. They come from our own relay, so only what is made of them is checked. */
class CallEventReader {
  readonly #call: CallId;
  readonly #watcher: CallWatcher;
  readonly #parser = createParser({ onEvent: ({ event, data }) => this.#event(event, data) });
  #end: CallEnd | undefined;

  constructor(call: CallId, watcher: CallWatcher) {
    this.#call = call;
    this.#watcher = watcher;
  }

  /** Returns the call's end once it is known. */
  read(text: string): CallEnd | undefined {
    this.#parser.feed(text);
    return this.#end;
  }

  brokenOff(): CallEnd {
    const error = relayError("OUTCOME_UNKNOWN", "The connection ended before the call did", {
      hint: `Wait for the call ${this.#call} to learn how it ended, before you do it again`,
    });
    return { kind: "refused", error: error.shape() };
  }

  #event(event: string | undefined, data: string): void {
    if (this.#end) return;
    switch (event) {
      case "output":
        return this.#watcher.output((JSON.parse(data) as { data: string }).data);
      case "progress":
        return this.#watcher.progress(progressSchema.parse(JSON.parse(data)));
      case "approval":
        return this.#asked(data);
      case "result":
        this.#end = { kind: "answer", answer: JSON.parse(data) as Answer };
        return;
      case "error":
        this.#end = { kind: "refused", error: errorIn(data) };
        return;
      case "pending": {
        const { approval } = JSON.parse(data) as z.infer<typeof pendingCallSchema>;
        this.#end = { kind: "pending", call: this.#call, approval };
      }
    }
  }

  #asked(data: string): void {
    const { approval: id, state, expires, summary, edited } = approvalEventSchema.parse(JSON.parse(data));
    const approval: CallApproval = { id, state, expires, summary, edited };
    if (this.#watcher.asked(approval)) this.#end = { kind: "pending", call: this.#call, approval };
  }
}

function errorIn(data: string): ErrorShape {
  const { code, detail, hint, hop, metadata } = problemSchema.parse(JSON.parse(data));
  const details = metadata as Record<string, unknown> | undefined;
  return { code, message: detail, hint, hop: hop as ErrorShape["hop"], details };
}

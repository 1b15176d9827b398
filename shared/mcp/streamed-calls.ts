/** A device that is followed from another object: each call is a stream of events. */
import { createParser } from "eventsource-parser";
import type * as z from "zod";
import { approvalEventSchema, problemSchema } from "../api.ts";
import type { CallApproval } from "../approval.ts";
import type { OpenStream, OpenTools, RecordingPort, WantedCall } from "../caller/port.ts";
import type { Answer } from "../caller/to-caller.ts";
import { progressSchema } from "../content.ts";
import type { ErrorShape } from "../errors.ts";
import type { CallId } from "../ids.ts";
import type { WantedView } from "../model-view.ts";
import type { pendingCallSchema } from "../openapi/bodies.ts";
import { brokenOff, type CallEnd, type CallWatcher, type FollowedCall, type OutputPiece } from "./device.ts";
import type { FollowedCalls } from "./followed-device.ts";

interface StreamPort
  extends Pick<RecordingPort, "device" | "openTools" | "streamCall" | "attach" | "cancelCall">,
    Pick<FollowedCalls, "cancelUnshared"> {}

export class StreamedCalls implements FollowedCalls {
  readonly device: string;
  readonly #port: StreamPort;

  constructor(port: StreamPort) {
    this.device = port.device;
    this.#port = port;
  }

  openTools(view?: WantedView): Promise<OpenTools> {
    return this.#port.openTools(view);
  }

  async start(wanted: WantedCall, watcher: CallWatcher): Promise<FollowedCall> {
    return followStream(await this.#port.streamCall(wanted), watcher);
  }

  async follow(call: CallId, waitMs: number, watcher: CallWatcher): Promise<FollowedCall> {
    return followStream(await this.#port.attach(call, waitMs), watcher);
  }

  cancelCall(call: CallId): Promise<void> {
    return this.#port.cancelCall(call);
  }

  cancelUnshared(call: CallId): Promise<boolean> {
    return this.#port.cancelUnshared(call);
  }
}

function followStream({ call, body }: OpenStream, watcher: CallWatcher): FollowedCall {
  const reader = body.getReader();
  let hasLeft = false;
  return {
    call,
    end: endOf(call, reader, watcher, () => hasLeft),
    leave: async () => {
      hasLeft = true;
      await reader.cancel().catch(() => undefined);
    },
  };
}

/** Reads a call's events up to the last one. */
async function endOf(
  call: CallId,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  watcher: CallWatcher,
  hasLeft: () => boolean,
): Promise<CallEnd> {
  const events = new CallEventReader(call, watcher);
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      if (!hasLeft()) throw error;
      return { done: true, value: undefined } as const;
    });
    const end = done ? brokenOff(call) : events.read(decoder.decode(value, { stream: true }));
    if (end) return end;
  }
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

  #event(event: string | undefined, data: string): void {
    if (this.#end) return;
    switch (event) {
      case "output":
        return this.#watcher.output(JSON.parse(data) as OutputPiece);
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
    const { call, approval: id, ...asked } = approvalEventSchema.parse(JSON.parse(data));
    const { state, expires, summary, edited } = asked;
    const approval: CallApproval = { id, state, expires, summary, edited };
    if (this.#watcher.asked(approval, call as CallId))
      this.#end = { kind: "pending", call: this.#call, approval };
  }
}

function errorIn(data: string): ErrorShape {
  const { code, detail, hint, hop, metadata } = problemSchema.parse(JSON.parse(data));
  const details = metadata as Record<string, unknown> | undefined;
  return { code, message: detail, hint, hop: hop as ErrorShape["hop"], details };
}

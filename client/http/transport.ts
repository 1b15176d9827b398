/** A device over HTTP: each call is a request, answered with its events. Without streams and without the device's events. */
import {
  approvalEventSchema,
  callEventSchema,
  gapEventSchema,
  outputEventSchema,
  progressEventSchema,
} from "@matrx/shared/api.ts";
import { answerSchema } from "@matrx/shared/caller/to-caller.ts";
import { type ErrorCode, MatrxError, relayError } from "@matrx/shared/errors.ts";
import { errorInProblem } from "@matrx/shared/problem.ts";
import { CALL_HEADER, SESSION_HEADER } from "@matrx/shared/tokens.ts";
import * as z from "zod";
import { answerOfProblem } from "../errors.ts";
import type { Attempt, CallListener, CallRequest, Transport } from "../transport.ts";
import { pathOf, type RelayClient } from "./relay-client.ts";
import { type ServerEvent, serverEvents } from "./server-events.ts";

export interface HttpTransportOptions {
  readonly client: RelayClient;
  /** Absent: `client` is a local server, which serves one device and keeps no records. */
  readonly device?: string | undefined;
  /** Continued by each call; `new` asks for one; absent: each call has its own. */
  readonly session?: string | undefined;
}

const EVENTS = { Accept: "text/event-stream" };

/** Refusals that are not about the call: with these, a WebSocket would not have opened either. */
const NOT_REACHED: readonly ErrorCode[] = ["UNAUTHENTICATED", "UNKNOWN_DEVICE", "UNAVAILABLE"];

export class HttpTransport implements Transport {
  readonly host: string;
  readonly follow: Transport["follow"];
  readonly #client: RelayClient;
  readonly #base: string;
  readonly #closed = new AbortController();
  #session: string | undefined;

  constructor({ client, device, session }: HttpTransportOptions) {
    this.host = client.host;
    this.#client = client;
    this.#base = device === undefined ? "" : pathOf("v1", "devices", device);
    this.#session = session;
    this.follow = device === undefined ? undefined : (call, listener) => this.#attach(call, listener);
  }

  get session(): string | undefined {
    return this.#session === "new" ? undefined : this.#session;
  }

  async attempt(request: CallRequest, listener: CallListener): Promise<Attempt> {
    const { tool, input, timeoutMs, idempotencyKey, cancelOnDisconnect } = request;
    const headers = {
      ...EVENTS,
      ...(idempotencyKey !== undefined && { "Idempotency-Key": idempotencyKey }),
      ...(this.#session !== undefined && { [SESSION_HEADER]: this.#session }),
    };
    const query = {
      ...(timeoutMs !== undefined && { timeout_ms: String(timeoutMs) }),
      ...(cancelOnDisconnect && { cancel_on_disconnect: "true" }),
    };
    try {
      return await this.#read(listener, (signal) =>
        this.#client.openResponse(`${this.#base}${pathOf("tools", tool)}`, {
          ...{ method: "POST", body: input, headers, query, signal },
        }),
      );
    } catch (error) {
      if (!(error instanceof MatrxError) || error.hop === "caller") throw error;
      if (NOT_REACHED.includes(error.code)) throw error;
      return { kind: "answer", answer: answerOfProblem(error) };
    }
  }

  close(): void {
    this.#closed.abort();
  }

  #attach(call: string, listener: CallListener): Promise<Attempt> {
    return this.#read(listener, (signal) =>
      this.#client.openResponse(this.#pathTo(call), { headers: EVENTS, signal }),
    );
  }

  async #read(listener: CallListener, ask: (signal: AbortSignal) => Promise<Response>): Promise<Attempt> {
    const { stop, leave } = listener;
    if (stop.aborted || leave.aborted) return { kind: "lost", why: "cancelled", sent: false };
    const reading = new CallReading(listener);
    const unnamed = new AbortController();
    const cancel = () => {
      if (reading.call === undefined) unnamed.abort();
      // What it answers, its events say.
      else
        void this.#client.send("POST", `${this.#pathTo(reading.call)}/cancel`).catch(() => unnamed.abort());
    };
    stop.addEventListener("abort", cancel, { once: true });
    try {
      const response = await ask(AbortSignal.any([leave, unnamed.signal, this.#closed.signal]));
      reading.named(response.headers.get(CALL_HEADER));
      this.#session = this.#session && (response.headers.get(SESSION_HEADER) ?? this.#session);
      if (response.body)
        for await (const event of serverEvents(response.body)) {
          const end = reading.take(event);
          if (end) return end;
        }
      return { kind: "lost", why: "the answer broke off", sent: true };
    } catch (error) {
      if (stop.aborted || leave.aborted) return { kind: "lost", why: "cancelled", sent: true };
      return lostBy(error, reading.call !== undefined);
    } finally {
      stop.removeEventListener("abort", cancel);
    }
  }

  #pathTo(call: string): string {
    return `${this.#base}${pathOf("calls", call)}`;
  }
}

/** What the events of one call say. */
class CallReading {
  readonly #listener: CallListener;
  call: string | undefined;

  constructor(listener: CallListener) {
    this.#listener = listener;
  }

  /** Returns the call's end once it is known. */
  take({ event, data }: ServerEvent): Attempt | undefined {
    const value: unknown = JSON.parse(data);
    if (event === "result") return { kind: "answer", answer: answerSchema.parse(value) };
    if (event === "error")
      return { kind: "answer", answer: answerOfProblem(errorInProblem(value) ?? unreadable()) };
    if (event === "call") this.named(callEventSchema.parse(value).call);
    // A newer relay may tell more than this program knows.
    const told = eventSchema.safeParse(value).data;
    if (told) this.#listener.onEvent(told);
    return undefined;
  }

  named(call: string | null): void {
    if (call === null || call === this.call) return;
    this.call = call;
    this.#listener.onName(call);
  }
}

const eventSchema = z.discriminatedUnion("type", [
  outputEventSchema,
  gapEventSchema,
  progressEventSchema,
  approvalEventSchema,
]);

function unreadable(): MatrxError {
  return relayError("INVALID_ANSWER", "The call ended, and its answer can't be read here", {
    hint: "Check what it changed before you run it again",
  });
}

/** Throws what was said instead of an answer. */
function lostBy(error: unknown, sent: boolean): Attempt {
  if (!(error instanceof MatrxError)) return { kind: "lost", why: String(error), sent: true };
  if (error.hop !== "caller" || error.code !== "UNAVAILABLE") throw error;
  return { kind: "lost", why: error.message, sent };
}

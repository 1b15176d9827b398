/** A device over HTTP: each call is a request, answered with its events. Without streams and without the device's events. */
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import { type ErrorCode, MatrxError } from "@matrx/shared/errors.ts";
import { CALL_HEADER, SESSION_HEADER } from "@matrx/shared/tokens.ts";
import { answerOfRefusal, ConnectionLost, RELAY } from "../errors.ts";
import type { Attempt, CallEvent, CallListener, CallRequest, Transport } from "../transport.ts";
import { type ServerEvent, serverEvents } from "./server-events.ts";

/** Requests to a relay, or to a local server. */
export interface HttpClient {
  /** What it asks, in words, for messages. Absent: "the relay". */
  readonly host?: string;
  /** The response, whose body is read as it comes. Throws MatrxError; hop `caller` and code `UNAVAILABLE`: there is none. */
  openResponse(path: string, request: HttpRequest): Promise<Response>;
  /** Throws MatrxError. */
  send(method: "POST", path: string): Promise<unknown>;
}

export interface HttpRequest {
  /** `GET` by default. */
  readonly method?: string;
  readonly body?: unknown;
  readonly headers: Record<string, string>;
  readonly query?: Record<string, string>;
  readonly signal: AbortSignal;
}

/** What an event says of a call. */
export type Told =
  | { readonly kind: "name"; readonly call: string }
  | { readonly kind: "event"; readonly event: CallEvent }
  | { readonly kind: "answer"; readonly answer: Answer };

export interface HttpTransportOptions {
  readonly client: HttpClient;
  /** Absent: `client` is a local server, which serves one device and keeps no records. */
  readonly device?: string | undefined;
  /** Continued by each call; `new` asks for one; absent: each call has its own. */
  readonly session?: string | undefined;
  /** Undefined: a newer relay may tell what this program does not know. */
  readonly read: (event: ServerEvent) => Told | undefined;
}

const EVENTS = { Accept: "text/event-stream" };

/** Asking for a record again may help. */
const PASSING: readonly ErrorCode[] = ["UNAVAILABLE", "RATE_LIMITED", "INTERNAL"];

/** Of a system that made no connection, so that nothing was sent. */
const UNCONNECTED =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_.*|ERR_SSL_.*|UNABLE_TO_.*|.*_CERT.*|CERT_.*)$/;

export class HttpTransport implements Transport {
  readonly host: string | undefined;
  readonly follow: Transport["follow"];
  readonly #client: HttpClient;
  readonly #base: string;
  readonly #tellOf: HttpTransportOptions["read"];
  readonly #closed = new AbortController();
  #session: string | undefined;

  constructor({ client, device, session, read }: HttpTransportOptions) {
    this.host = client.host;
    this.#client = client;
    this.#base = device === undefined ? "" : `/v1/devices/${encodeURIComponent(device)}`;
    this.#session = session;
    this.#tellOf = read;
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
      return await this.#read(undefined, listener, (signal) =>
        this.#client.openResponse(`${this.#base}/tools/${encodeURIComponent(tool)}`, {
          ...{ method: "POST", body: input, headers, query, signal },
        }),
      );
    } catch (error) {
      return { kind: "answer", answer: answerOfRefusal(error) };
    }
  }

  close(): void {
    this.#closed.abort();
  }

  #attach(call: string, listener: CallListener): Promise<Attempt> {
    return this.#read(call, listener, (signal) =>
      this.#client.openResponse(this.#pathTo(call), { headers: EVENTS, signal }).catch((error: unknown) => {
        if (error instanceof MatrxError && PASSING.includes(error.code))
          throw new ConnectionLost(error.message, this.host ?? RELAY, error.cause);
        throw error;
      }),
    );
  }

  /** `known`: the call's name, if it was made before. */
  async #read(
    known: string | undefined,
    listener: CallListener,
    ask: (signal: AbortSignal) => Promise<Response>,
  ): Promise<Attempt> {
    const { stop, leave } = listener;
    if (stop.aborted || leave.aborted) return { kind: "lost", why: "cancelled", sent: false };
    let call = known;
    let isOpen = false;
    const name = (told: string) => {
      call = told;
      listener.onName(told);
    };
    const unnamed = new AbortController();
    const cancel = () => {
      if (call === undefined) unnamed.abort();
      // What it answers, its events say.
      else void this.#client.send("POST", `${this.#pathTo(call)}/cancel`).catch(() => unnamed.abort());
    };
    stop.addEventListener("abort", cancel, { once: true });
    try {
      const response = await ask(AbortSignal.any([leave, unnamed.signal, this.#closed.signal]));
      isOpen = true;
      const named = response.headers.get(CALL_HEADER) ?? call;
      if (named !== undefined) name(named);
      this.#session = this.#session && (response.headers.get(SESSION_HEADER) ?? this.#session);
      if (response.body)
        for await (const event of serverEvents(response.body)) {
          const told = this.#tellOf(event);
          if (told?.kind === "answer") return told;
          if (told?.kind === "event") listener.onEvent(told.event);
          else if (told && told.call !== call) name(told.call);
        }
      return { kind: "lost", why: "the answer broke off", sent: true };
    } catch (error) {
      if (stop.aborted || leave.aborted) return { kind: "lost", why: "cancelled", sent: true };
      return lostBy(error, isOpen || this.#closed.signal.aborted);
    } finally {
      stop.removeEventListener("abort", cancel);
    }
  }

  #pathTo(call: string): string {
    return `${this.#base}/calls/${encodeURIComponent(call)}`;
  }
}

/** Throws what the relay said of the call, or why there can be no request. */
function lostBy(error: unknown, isOpen: boolean): Attempt {
  if (!(error instanceof MatrxError)) {
    if (!isOpen) throw error;
    return { kind: "lost", why: String(error), sent: true };
  }
  const { code, hop, message, cause } = error;
  if (hop !== "caller" || code !== "UNAVAILABLE") throw error;
  const why = error instanceof ConnectionLost ? error.why : message;
  return { kind: "lost", why, sent: isOpen || !isUnconnected(cause), cause };
}

function isUnconnected(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  if ("code" in cause && typeof cause.code === "string") return UNCONNECTED.test(cause.code);
  return isUnconnected(cause.cause);
}

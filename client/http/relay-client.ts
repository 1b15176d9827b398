/** A client of the REST interface of a relay, or of a local server. */
import { callerError, type ErrorCode, MatrxError, relayError } from "@matrx/shared/errors.ts";
import { errorInProblem } from "@matrx/shared/problem.ts";
import type * as z from "zod";
import { RELAY } from "../errors.ts";

export interface Request {
  body?: unknown;
  headers?: Record<string, string>;
  query?: Record<string, string>;
  signal?: AbortSignal;
  /** How long to wait for the answer, in milliseconds. */
  timeoutMs?: number;
}

export interface OpenRequest extends Omit<Request, "timeoutMs"> {
  method?: string;
}

export interface Reply {
  status: number;
  headers: Headers;
  body: unknown;
}

const ANSWERS_WITHIN = 20_000;

export interface RelayClientOptions {
  /** Such as `https://relay.example`, without a slash at its end. */
  readonly relay: string;
  /** Read anew each time, since it may be replaced while a long program runs. Throws MatrxError if it is no longer there. */
  readonly token?: (() => string | undefined | Promise<string | undefined>) | undefined;
  /** What is there, in words, for messages. Absent: "the relay". */
  readonly host?: string | undefined;
  /** The platform's own by default. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** What to do if the relay does not accept the token. */
  readonly signInHint?: string | undefined;
  /** Why a request failed, in words, and what to do about it. */
  readonly explain?: (cause: unknown) => { readonly why: string; readonly hint?: string | undefined };
}

export class RelayClient {
  readonly relay: string;
  /** What is there, in words. */
  readonly host: string;
  readonly #options: RelayClientOptions;

  constructor(options: RelayClientOptions) {
    this.relay = options.relay;
    this.host = options.host ?? RELAY;
    this.#options = options;
  }

  /** The token as it is now. Throws MatrxError if it is no longer there. */
  async token(): Promise<string | undefined> {
    return this.#options.token?.();
  }

  async get<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.infer<Schema>> {
    return this.#checked((await this.send("GET", path)).body, schema);
  }

  async post<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    body?: unknown,
  ): Promise<z.infer<Schema>> {
    return this.#checked((await this.send("POST", path, { body })).body, schema);
  }

  /** Sends a request. Throws MatrxError: the relay's error, or `UNAVAILABLE` if it cannot be reached. */
  async send(method: string, path: string, request: Request = {}): Promise<Reply> {
    const { signal, timeoutMs = ANSWERS_WITHIN, ...rest } = request;
    const timeout = AbortSignal.timeout(timeoutMs);
    const over = signal ? AbortSignal.any([signal, timeout]) : timeout;
    let response: Response;
    let text: string;
    const ask = await this.#prepare(method, path, { Accept: "application/json" }, { ...rest, signal: over });
    try {
      response = await ask();
      text = await response.text();
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw this.brokeOff(cause);
    }
    const value = parsedJson(text);
    if (!response.ok) throw this.#problemOf(response, value);
    return { status: response.status, headers: response.headers, body: value };
  }

  /** Opens an answer of any length, which is read as it comes. Throws MatrxError. */
  async open(path: string, request: OpenRequest = {}): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const { body } = await this.openResponse(path, request);
    return body ?? new ReadableStream({ start: (controller) => controller.close() });
  }

  /** The same, with its headers. Throws MatrxError. */
  async openResponse(path: string, { method = "GET", ...request }: OpenRequest = {}): Promise<Response> {
    let response: Response;
    const ask = await this.#prepare(method, path, {}, request);
    try {
      response = await ask();
    } catch (cause) {
      if (request.signal?.aborted) throw request.signal.reason;
      throw this.brokeOff(cause);
    }
    if (response.ok) return response;
    throw this.#problemOf(response, parsedJson(await response.text()));
  }

  /** The connection broke, or the relay ended it, in the middle of an answer. */
  brokeOff(cause: unknown): MatrxError {
    if (cause instanceof MatrxError) return cause;
    const isTimeout = cause instanceof DOMException && cause.name === "TimeoutError";
    const { why, hint } = isTimeout ? { why: "no answer in time" } : this.#explained(cause);
    return callerError("UNAVAILABLE", `Can't reach ${this.host} at ${this.relay}: ${why}`, {
      hint: hint ?? "Check the address and your network",
      cause,
    });
  }

  /** The relay's error, with our own hint if the token was refused. */
  refusal(said: MatrxError): MatrxError {
    const { signInHint } = this.#options;
    if (said.code !== "UNAUTHENTICATED" || signInHint === undefined) return said;
    return new MatrxError({ ...said.shape(), hint: signInHint });
  }

  #checked<Schema extends z.ZodType>(body: unknown, schema: Schema): z.infer<Schema> {
    const result = schema.safeParse(body);
    if (result.success) return result.data;
    const issue = result.error.issues[0];
    throw relayError(
      "UNAVAILABLE",
      `${this.relay} sent an answer this program doesn't understand (${issue?.path.join(".")}: ${issue?.message})`,
      { hint: "Check the address; if it is right, update this program" },
    );
  }

  #problemOf(response: Response, value: unknown): MatrxError {
    const said = errorInProblem(value);
    if (said) return this.refusal(said);
    return relayError(
      codeOfStatus(response.status),
      `${this.relay} answered ${response.status} ${response.statusText}, with no details`,
      { hint: `Check the address of ${this.host}` },
    );
  }

  #explained(cause: unknown): { readonly why: string; readonly hint?: string | undefined } {
    if (this.#options.explain) return this.#options.explain(cause);
    return { why: cause instanceof Error ? cause.message : "unknown" };
  }

  /** What is wrong with the token or the body is not the network's fault. */
  async #prepare(
    method: string,
    path: string,
    accept: Record<string, string>,
    { body, headers, query, signal }: Omit<OpenRequest, "method">,
  ): Promise<() => Promise<Response>> {
    const search = String(new URLSearchParams(query));
    const url = `${this.relay}${path}${search && `?${search}`}`;
    const token = await this.token();
    const { fetch = globalThis.fetch } = this.#options;
    const init: RequestInit = {
      method,
      headers: {
        ...accept,
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: "manual",
      ...(signal && { signal }),
    };
    return () => fetch(url, init);
  }
}

function codeOfStatus(status: number): ErrorCode {
  if (status === 401) return "UNAUTHENTICATED";
  if (status === 404) return "NOT_FOUND";
  return "UNAVAILABLE";
}

/** A URL path made of segments, which are escaped. */
export function pathOf(...segments: string[]): string {
  return `/${segments.map(encodeURIComponent).join("/")}`;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

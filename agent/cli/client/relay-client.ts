/** A client of the relay's REST interface. */
import { callerError, type ErrorCode, MatrxError, relayError } from "@matrx/shared/errors.ts";
import { errorInProblem } from "@matrx/shared/problem.ts";
import type * as z from "zod";
import { fetchElsewhere } from "../../network/fetch.ts";
import { hintOf, reasonOf } from "../../relay/close-reasons.ts";
import { parsedJson } from "./json.ts";

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

export class RelayClient {
  readonly relay: string;
  readonly #token: () => string | undefined;
  readonly #signInHint: string | undefined;

  /**
   * `token` may read it anew each time, since it may be replaced while a long command runs; `signInHint` says what to do if
   * the relay does not accept it.
   */
  constructor(relay: string, token?: string | (() => string), signInHint?: string) {
    this.relay = relay;
    this.#token = typeof token === "function" ? token : () => token;
    this.#signInHint = signInHint;
  }

  /** The token as it is now. Throws MatrxError if it is no longer there. */
  get token(): string | undefined {
    return this.#token();
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
    const { body, headers, query, signal, timeoutMs = ANSWERS_WITHIN } = request;
    const url = `${this.relay}${path}${query ? `?${new URLSearchParams(query)}` : ""}`;
    const timeout = AbortSignal.timeout(timeoutMs);
    const { token } = this;
    let response: Response;
    let text: string;
    try {
      response = await fetchElsewhere(url, {
        method,
        headers: {
          Accept: "application/json",
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
          ...(body !== undefined && { "Content-Type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: "manual",
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      text = await response.text();
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw this.#unreachable(cause);
    }
    const value = parsedJson(text);
    if (!response.ok) throw this.#problemOf(response, value);
    return { status: response.status, headers: response.headers, body: value };
  }

  /** Opens an answer of any length, which is read as it comes. Throws MatrxError. */
  async open(
    path: string,
    { method = "GET", ...request }: OpenRequest = {},
  ): Promise<ReadableStream<Uint8Array>> {
    const { body, headers, query, signal } = request;
    const { token } = this;
    let response: Response;
    try {
      response = await fetchElsewhere(
        `${this.relay}${path}${query ? `?${new URLSearchParams(query)}` : ""}`,
        {
          method,
          headers: {
            ...(token !== undefined && { Authorization: `Bearer ${token}` }),
            ...(body !== undefined && { "Content-Type": "application/json" }),
            ...headers,
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
          redirect: "manual",
          ...(signal && { signal }),
        },
      );
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw this.#unreachable(cause);
    }
    if (response.ok && response.body) return response.body;
    throw this.#problemOf(response, parsedJson(await response.text()));
  }

  /** The connection broke, or the relay ended it, in the middle of an answer. */
  brokeOff(cause: unknown): MatrxError {
    return this.#unreachable(cause);
  }

  /** The relay's error, with our own hint if the token was refused. */
  refusal(said: MatrxError): MatrxError {
    if (said.code !== "UNAUTHENTICATED" || this.#signInHint === undefined) return said;
    return new MatrxError({ ...said.shape(), hint: this.#signInHint });
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
      { hint: "Check the relay's address" },
    );
  }

  #unreachable(cause: unknown): MatrxError {
    if (cause instanceof MatrxError) return cause;
    const isTimeout = cause instanceof DOMException && cause.name === "TimeoutError";
    const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
    const why = isTimeout ? "no answer in time" : inner instanceof Error ? reasonOf(inner) : "unknown";
    return callerError("UNAVAILABLE", `Can't reach the relay at ${this.relay}: ${why}`, {
      hint: hintOf(inner) ?? "Check the address and your network",
      cause,
    });
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

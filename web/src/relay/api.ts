/** The relay's REST interface, with the access token of this browser's session. */
import { ApiError, otherSessionError, unreachableError } from "./api-error.ts";
import type { Answer, Line, Options } from "./routes.ts";
import * as session from "./session.ts";

/** Calls a route. Resolves to the answer's body. Throws ApiError, also if somebody signed in or out meanwhile. */
export async function api<L extends Line>(line: L, ...[options]: Options<L>): Promise<Answer<L>> {
  const turn = session.sessionTurn();
  const response = await send(line, (options ?? {}) as Request);
  const answer = await answerOf(response);
  if (turn !== session.sessionTurn()) throw otherSessionError();
  if (!response.ok) throw new ApiError(response.status, answer ?? {});
  return answer as Answer<L>;
}

/** The response to a request for events (`text/event-stream`), until `signal`. Throws ApiError. */
export function openEvents<L extends Line>(
  line: L,
  options: NonNullable<Options<L>[0]>,
  signal: AbortSignal,
): Promise<Response> {
  return open(line, { ...(options as Request), headers: { Accept: "text/event-stream" }, signal });
}

/** The answer to a request for a file. Throws ApiError. */
export async function openFile<L extends Line>(line: L, ...[options]: Options<L>): Promise<Blob> {
  const response = await open(line, (options ?? {}) as Request);
  return response.blob().catch(() => {
    throw unreachableError();
  });
}

async function open(line: Line, options: Request): Promise<Response> {
  const response = await send(line, options);
  if (!response.ok) throw new ApiError(response.status, (await answerOf(response)) ?? {});
  return response;
}

/** Posts to a route that asks for no access token. Throws ApiError. */
export async function postOpenly<T>(
  path: string,
  body: object,
  headers?: Readonly<Record<string, string>>,
): Promise<T> {
  const response = await reach(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  session.noteNonce(response);
  const answer = await answerOf(response);
  if (!response.ok) throw new ApiError(response.status, answer ?? {});
  return answer as T;
}

/** A bearer token that is good for a while; undefined: nobody is signed in. Throws ApiError. */
export async function accessToken(): Promise<string | undefined> {
  try {
    return await session.accessToken();
  } catch (error) {
    if (error instanceof TypeError) throw unreachableError();
    if (!(error instanceof Response)) throw error;
    throw new ApiError(error.status, (await answerOf(error)) ?? {});
  }
}

interface Request {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: object;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** A token may end on the way, or with the relay's keys: then another one is asked for, once. Never in another's name. */
async function send(line: string, { path = {}, query, body, headers, signal }: Request): Promise<Response> {
  const [method = "GET", template = "/"] = line.split(" ");
  const address = addressOf(template, path, query);
  const turn = session.sessionTurn();
  let token: string | undefined;
  const once = async () => {
    token = await accessToken();
    if (turn !== session.sessionTurn()) throw otherSessionError();
    return reach(address, {
      method,
      ...(signal && { signal }),
      headers: {
        ...headers,
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...(token && { Authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  };
  const response = await once();
  if (response.status !== 401 || !token) return response;
  await response.body?.cancel();
  session.dropAccess();
  return once();
}

/** A route's path with its parameters, and the query without what is undefined. */
export function addressOf(
  template: string,
  path: Readonly<Record<string, string>>,
  query: object = {},
): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(path[name] ?? ""));
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return given.length === 0 ? filled : `${filled}?${new URLSearchParams(given)}`;
}

async function reach(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, { credentials: "same-origin", cache: "no-store", ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw unreachableError();
  }
}

async function answerOf(response: Response): Promise<object | undefined> {
  const text = await response.text().catch(() => {
    throw unreachableError();
  });
  if (!text) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(response.status, {
      detail: `The relay sent an answer this page doesn't understand (${response.status}).`,
    });
  }
}

/** The relay's REST interface, with the access token of this browser's session. */
import { type ApiError, otherPageError, otherSessionError, unreadableError } from "./api-error.ts";
import { patientFetch, patientText } from "./patient-fetch.ts";
import { refusalOf } from "./refusal.ts";
import type { Answer, Line, Options } from "./routes.ts";
import * as session from "./session.ts";
import { fits } from "./shapes.ts";

/** Calls a route. Resolves to the answer's body. Throws ApiError, also if somebody signed in or out meanwhile. */
export async function api<L extends Line>(line: L, ...[options]: Options<L>): Promise<Answer<L>> {
  const turn = session.sessionTurn();
  try {
    const response = await open(line, (options ?? {}) as Request);
    const answer = await answerOf(response, line);
    if (!fits(line, answer)) throw unreadableError(response.status);
    if (turn === session.sessionTurn()) return answer;
  } catch (error) {
    if (turn === session.sessionTurn()) throw error;
  }
  throw otherSessionError();
}

/** The response to a request for bytes. Throws ApiError; the signal's reason when that ends it. */
export function openBytes<L extends Line>(
  line: L,
  options: NonNullable<Options<L>[0]>,
  besides?: Pick<Request, "headers" | "signal">,
): Promise<Response> {
  return open(line, { ...options, ...besides } as Request);
}

/** The response to any request, such as `GET /v1/devices`. Throws ApiError; the signal's reason when that ends it. */
export async function open(line: string, options: Request): Promise<Response> {
  const response = await send(line, options);
  if (!response.ok) throw await refusalIn(response);
  return response;
}

/** Posts to a route that asks for no access token. Throws ApiError. */
export async function postOpenly<T>(
  path: string,
  body: object,
  headers?: Readonly<Record<string, string>>,
): Promise<T> {
  const response = await patientFetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  session.noteNonce(response);
  if (!response.ok) throw await refusalIn(response);
  const answer = await answerOf(response, "POST");
  if (answer === undefined) throw unreadableError(response.status);
  return answer as T;
}

/** A bearer token that is good for a while; undefined: nobody is signed in. Throws ApiError. */
export async function accessToken(): Promise<string | undefined> {
  try {
    return await session.accessToken();
  } catch (error) {
    throw error instanceof Response ? await refusalIn(error) : error;
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
    return patientFetch(address, {
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

async function refusalIn(response: Response): Promise<ApiError> {
  const text = await patientText(response);
  return refusalOf(response, parsed(text) ?? {});
}

/** Undefined: the answer is empty. */
async function answerOf(response: Response, line: string): Promise<unknown> {
  const text = await patientText(response, line.split(" ")[0]);
  if (!text) return undefined;
  const answer = parsed(text);
  if (answer !== undefined) return answer;
  throw /^\s*</.test(text) ? otherPageError(response.status) : unreadableError(response.status);
}

/** Undefined: neither an object nor a list. */
function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

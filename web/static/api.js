/** The relay's REST interface, with the access token of this browser's session. */
import * as session from "./session.js";

/** More often than an access token ends, in milliseconds. */
const RENEW_EVERY = 120_000;

/** What the relay answered instead of doing it. */
export class ApiError extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || `The relay answered ${status}`);
    this.status = status;
    this.code = problem.code;
    this.hint = problem.hint;
    this.hop = problem.hop;
  }
}

/** Calls `GET /v1/account` and the like: the first word is the method. Resolves to the answer's body. */
export async function api(line, body) {
  const response = await send(line, body);
  const answer = await answerOf(response);
  if (!response.ok) throw new ApiError(response.status, answer ?? {});
  return answer;
}

/** The response to a request for events, until `signal`. What refuses it is thrown. */
export async function openEvents(line, body, signal) {
  const response = await send(line, body, { headers: { Accept: "text/event-stream" }, signal });
  if (!response.ok) throw new ApiError(response.status, (await answerOf(response)) ?? {});
  return response;
}

/** The answer to a request for a file. What refuses it is thrown. */
export async function openFile(line) {
  const response = await send(line);
  if (!response.ok) throw new ApiError(response.status, (await answerOf(response)) ?? {});
  return response.blob().catch(() => {
    throw unreachable();
  });
}

/** The account of this browser's session; undefined: nobody is signed in. */
export async function signedInAccount() {
  try {
    return await api("GET /v1/account");
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return undefined;
    throw error;
  }
}

/** Signs in by a route that asks for no credential. Resolves to the answer's body. */
export function signIn(path, body) {
  return session.signIn(path, body, postOpenly);
}

/** Begins a sign-in that leads away from this page. Resolves to the answer's body. */
export function beginSignIn(path) {
  return session.beginSignIn(path, postOpenly);
}

/** Ends it, in the browser that began. `nonce`: what the proof of its key must contain. */
export function finishSignIn(path, body, nonce) {
  return session.finishSignIn(path, body, nonce, postOpenly);
}

/** Posts to a route that asks for no access token. */
async function postOpenly(path, body, headers) {
  const response = await request("POST", path, body, { "Content-Type": "application/json", ...headers });
  session.noteNonce(response);
  const answer = await answerOf(response);
  if (!response.ok) throw new ApiError(response.status, answer ?? {});
  return answer;
}

/** A session that is over already needs no end. */
export async function signOut() {
  try {
    await api("POST /v1/sign-out");
  } catch (error) {
    if (error.status !== 401) throw error;
  }
  await session.forget();
}

/** Calls back after another page of this browser signed in or out: the session is this page's, too. */
export const onOtherSession = session.onOtherSession;

/** A socket to a path of the relay, which gets a new access token before one ends. */
export async function openSocket(path) {
  const token = await accessToken();
  const url = new URL(path, location.href);
  url.protocol = url.protocol.replace("http", "ws");
  const socket = new WebSocket(url, ["matrx.v1", ...(token ? [`bearer.${token}`] : [])]);
  const renewal = setInterval(async () => {
    // Whatever is wrong, the relay closes the socket when its token ends.
    const next = await accessToken().catch(() => undefined);
    if (next && socket.readyState === WebSocket.OPEN)
      socket.send(JSON.stringify({ action: "auth", token: next }));
  }, RENEW_EVERY);
  socket.addEventListener("close", () => clearInterval(renewal));
  return socket;
}

/** A bearer token that is good for a while; undefined: nobody is signed in. */
export async function accessToken() {
  try {
    return await session.accessToken();
  } catch (error) {
    if (error instanceof TypeError) throw unreachable();
    if (!(error instanceof Response)) throw error;
    throw new ApiError(error.status, (await answerOf(error)) ?? {});
  }
}

/** A token may end on the way, or with the relay's keys: then another one is asked for, once. */
async function send(line, body, { headers, signal } = {}) {
  const [method, path] = line.split(" ");
  let token;
  const once = async () => {
    token = await accessToken();
    const all = {
      ...headers,
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...(token && { Authorization: `Bearer ${token}` }),
    };
    return request(method, path, body, all, signal);
  };
  const response = await once();
  if (response.status !== 401 || !token) return response;
  await response.body?.cancel();
  session.dropAccess();
  return once();
}

async function request(method, path, body, headers, signal) {
  return fetch(path, {
    method,
    credentials: "same-origin",
    cache: "no-store",
    signal,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch(() => {
    throw unreachable();
  });
}

function unreachable() {
  return new ApiError(0, {
    detail: "Can't reach the relay.",
    hint: "Check that it is running, and try again.",
  });
}

async function answerOf(response) {
  const text = await response.text().catch(() => {
    throw unreachable();
  });
  return text ? parsed(text, response) : undefined;
}

function parsed(text, response) {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(response.status, {
      detail: `The relay sent an answer this page doesn't understand (${response.status}).`,
    });
  }
}

/** A part of a path. */
export const part = encodeURIComponent;

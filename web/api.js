/** The relay's REST interface, with the cookie of the signed-in browser. */

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

async function send(line, body, { headers, signal } = {}) {
  const [method, path] = line.split(" ");
  return fetch(path, {
    method,
    credentials: "same-origin",
    cache: "no-store",
    signal,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: { ...headers, ...(body !== undefined && { "Content-Type": "application/json" }) },
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

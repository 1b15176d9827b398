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
  const { answer } = await request(line, body);
  return answer;
}

/** As `api`, with the status and the place that a 202 names. */
export async function request(line, body) {
  const [method, path] = line.split(" ");
  const response = await fetch(path, {
    method,
    credentials: "same-origin",
    cache: "no-store",
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { "Content-Type": "application/json" },
    }),
  }).catch(() => {
    throw new ApiError(0, {
      detail: "The relay cannot be reached.",
      hint: "See that it runs, and try again.",
    });
  });
  const text = await response.text();
  const answer = text ? parsed(text, response) : undefined;
  if (!response.ok) throw new ApiError(response.status, answer ?? {});
  return { status: response.status, answer, location: response.headers.get("Location") };
}

function parsed(text, response) {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(response.status, {
      detail: `The relay answered ${response.status} in a form unknown here.`,
    });
  }
}

/** A part of a path. */
export const part = encodeURIComponent;

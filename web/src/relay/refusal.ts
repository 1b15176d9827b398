/** What an answer with an error's status tells a person. */
import { ApiError } from "./api-error.ts";

/** How a relay says that it has no such route: the text of `nothingHereError` in shared/caller/no-route.ts. */
export const NO_ROUTE = "Nothing here at this path";

/** Made of what was answered: a problem of the relay's, or anything that something else sent in its place. */
export function refusalOf({ status, headers }: Response, answer: object): ApiError {
  const problem = new ApiError(status, answer);
  if (status === 405 || problem.message === NO_ROUTE)
    return new ApiError(status, {
      ...problem.problem,
      detail: "This relay can't do that yet: it is older than this page.",
      hint: "Update the relay. Everything else goes on working.",
    });
  if (typeof problem.problem.detail === "string") return problem;
  return new ApiError(status, { ...problem.problem, ...wordsOf(status, headers.get("Retry-After")) });
}

function wordsOf(status: number, wait: string | null): { detail: string; hint: string } {
  if (status === 429) {
    const when = wait !== null && /^\d{1,5}$/.test(wait) ? `in ${wait} s` : "in a moment";
    return { detail: "Too many requests at once.", hint: `Try again ${when}.` };
  }
  if (status === 401)
    return { detail: "A proxy in front of the relay asks you to sign in.", hint: "Reload the page." };
  if (status === 403)
    return {
      detail: "That is not allowed (403).",
      hint: "If it should be, a proxy in front of the relay may refuse it.",
    };
  if (status === 404)
    return {
      detail: "There is no such thing at the relay (404).",
      hint: "It may have been removed. Reload the page.",
    };
  return {
    detail: `The relay failed (${status}).`,
    hint: "Try again. If it keeps failing, the relay's log says why.",
  };
}

/** An MCP server at a URL. What it answers is bounded, and its headers go to no other place. */

import type { HttpSettings } from "../config/mount-settings.ts";
import { fetchElsewhere } from "../network/fetch.ts";
import { HttpClientTransport } from "./http-client.ts";
import { MESSAGE_BYTES } from "./message-reader.ts";

export function httpTransport({ url, headers = {} }: HttpSettings): HttpClientTransport {
  const { place, login } = withoutLogin(url);
  return new HttpClientTransport(place, {
    // A redirect could carry the headers, which are secrets, to somebody else.
    requestInit: { headers: { ...login, ...headers }, redirect: "error" },
    fetch: async (input, init) => bounded(await fetchElsewhere(input, init)),
  });
}

/** A URL with a password cannot be fetched, and the error would tell the password. */
function withoutLogin(url: string): { place: URL; login: Record<string, string> } {
  const place = new URL(url);
  const { username, password } = place;
  if (username === "" && password === "") return { place, login: {} };
  [place.username, place.password] = ["", ""];
  const pair = `${unescaped(username)}:${unescaped(password)}`;
  return { place, login: { Authorization: `Basic ${Buffer.from(pair).toString("base64")}` } };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Breaks off a body, or one event of a stream, that is too large. */
function bounded(response: Response): Response {
  if (!response.body) return response;
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > MESSAGE_BYTES) return controller.error(new Error("the answer is too large"));
      if (endsEvent(chunk)) bytes = 0;
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
}

function endsEvent(chunk: Uint8Array): boolean {
  for (let at = 1; at < chunk.length; at++)
    if (chunk[at] === 0x0a && (chunk[at - 1] === 0x0a || chunk[at - 1] === 0x0d)) return true;
  return false;
}

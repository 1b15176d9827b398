/**
 * Addresses of a machine's files that the browser itself fetches, for what plays them or saves them: the service worker adds
 * this page's token to a request for one, if the page says that it has just asked for it. No other page can make it do so.
 */

import { accessToken } from "../relay/api.ts";
import { type ApiError, unreachableError } from "../relay/api-error.ts";
import type { PlacedFile } from "../relay/file-bytes.ts";
import { problemIn } from "../relay/problem-in.ts";
import { refusalOf } from "../relay/refusal.ts";
import { sayProblem } from "../ui/notices.ts";

/** Paths with their queries that this page has given to the browser. */
const played = new Set<string>();
/** Each is good for one request. */
const saved = new Set<string>();

/** Where an element fetches what it plays. Undefined: no service worker is in charge of this page, as on the first visit. */
export function playedAddress(file: PlacedFile): string | undefined {
  return given(`${addressOf(file)}?inline=true`, played);
}

/** Where the browser goes to save it, or a folder as a zip; once. Undefined as above. */
export function savedAddress(file: PlacedFile): string | undefined {
  return given(addressOf(file), saved);
}

function given(address: string, addresses: Set<string>): string | undefined {
  if (!navigator.serviceWorker?.controller) return undefined;
  addresses.add(address);
  return address;
}

function addressOf({ device, path }: PlacedFile): string {
  return `/v1/devices/${encodeURIComponent(device)}/files/${encodeURIComponent(path)}`;
}

navigator.serviceWorker?.addEventListener("message", ({ data, ports: [port] }) => {
  const { type, address, ...answer } = (data ?? {}) as Told;
  if (type === "not saved") return sayProblem(refusalIn(answer));
  if (type !== "token for" || typeof address !== "string") return;
  if (!played.has(address) && !saved.delete(address)) return;
  void accessToken().then(
    (token) => port?.postMessage(token),
    () => port?.postMessage(undefined),
  );
});

interface Told {
  readonly type?: unknown;
  readonly address?: unknown;
  readonly status?: unknown;
  readonly body?: unknown;
}

/** Why nothing was saved. */
function refusalIn({ status, body }: Told): ApiError {
  if (typeof status !== "number" || status < 400) return unreachableError();
  return refusalOf(new Response(null, { status }), problemIn(typeof body === "string" ? body : ""));
}

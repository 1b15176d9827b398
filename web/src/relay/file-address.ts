/**
 * Addresses of a machine's files that the browser itself fetches, for what plays them or saves them: the service worker adds
 * this page's token to a request for one, if the page says that it has just asked for it. No other page can make it do so.
 */
import { accessToken } from "./api.ts";
import type { PlacedFile } from "./file-bytes.ts";

/** Paths with their queries that this page has given to the browser. */
const given = new Set<string>();

/** Undefined: no service worker is in charge of this page, as on the first visit. `inline`: it is not saved but shown. */
export function fileAddress({ device, path }: PlacedFile, inline?: "inline"): string | undefined {
  if (!globalThis.navigator?.serviceWorker?.controller) return undefined;
  const query = inline === undefined ? "" : "?inline=true";
  const address = `/v1/devices/${encodeURIComponent(device)}/files/${encodeURIComponent(path)}${query}`;
  given.add(address);
  return address;
}

navigator.serviceWorker?.addEventListener("message", ({ data, ports: [port] }) => {
  const { type, address } = (data ?? {}) as { type?: unknown; address?: unknown };
  if (type !== "token for" || typeof address !== "string" || !given.has(address)) return;
  void accessToken().then(
    (token) => port?.postMessage(token),
    () => port?.postMessage(undefined),
  );
});

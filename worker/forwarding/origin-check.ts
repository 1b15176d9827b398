/**
 * Which requests a visit's cookie counts for: those of the visited page itself, and links to it. Other hosts of the forward
 * domain are the same site to browsers, so SameSite does not stop them; nor does it stop their WebSockets.
 */

/** Whether a page of another origin sends the request, other than by a link that a person follows. */
export function isForeign(origin: string, { method, headers }: Request): boolean {
  const from = headers.get("Origin");
  if (headers.get("Upgrade") !== null) return from !== null && from !== origin;
  const site = headers.get("Sec-Fetch-Site");
  if (site === "same-origin" || site === "none") return false;
  if (site === null) return from !== null && from !== origin;
  const isLink = headers.get("Sec-Fetch-Mode") === "navigate" && headers.get("Sec-Fetch-Dest") === "document";
  return !(isLink && (method === "GET" || method === "HEAD"));
}

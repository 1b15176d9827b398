/** `MATRX_URL`: the one address at which people, machines and programs reach a relay behind a proxy or on a domain of its own. */

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Tells whether a host name of a URL is this machine. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname) || hostname.endsWith(".localhost");
}

/** The origin that the text names; undefined unless it is `https://` (on this machine `http://` too), a host, and no more. */
export function publicOrigin(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))))
    return undefined;
  return url.href === `${url.origin}/` ? url.origin : undefined;
}

/** `MATRX_URL`: the one address of a relay that is behind a proxy or on its own domain. */

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Whether a URL's host name means this machine. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname) || hostname.endsWith(".localhost");
}

/** The origin in the text; undefined unless it is just `https://` (on this machine also `http://`) and a host. */
export function publicOrigin(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))))
    return undefined;
  return url.href === `${url.origin}/` ? url.origin : undefined;
}

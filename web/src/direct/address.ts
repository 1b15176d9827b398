/** Addresses of a local server. The page's Content-Security-Policy (`shared/pages.ts`) lets it reach no others. */

const HOSTS = ["localhost", "127.0.0.1"];
const SCHEMES = ["http:", "ws:"];

/** Why an address is not taken, for its field. */
export const WRONG_ADDRESS =
  "Use http://localhost or http://127.0.0.1 with a port, such as http://localhost:8000: this page may connect to nothing else on this computer.";

/** The server's origin, from its address as somebody types or pastes it; undefined: it is no such address. */
export function localOrigin(text: string): string | undefined {
  const typed = text.trim();
  const url = URL.parse(/^\w+:\/\//.test(typed) ? typed : `http://${typed}`);
  if (!url || !SCHEMES.includes(url.protocol) || !HOSTS.includes(url.hostname)) return undefined;
  if (url.username || url.password) return undefined;
  return `http://${url.host}`;
}

/** A token as it was pasted, perhaps with its header. */
export function pastedToken(text: string): string {
  return text.trim().replace(/^(Authorization:\s*)?Bearer\s+/i, "");
}

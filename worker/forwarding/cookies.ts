/** The cookie of a visit. The program that is visited neither gets it nor can set it. */
import { type AccountId, type GrantId, isAccountId } from "@matrx/shared/ids.ts";

export interface VisitSecret {
  readonly account: AccountId;
  readonly grant: GrantId;
  readonly secret: string;
}

/** The cookies of relays, on this port and others. Browsers send one without a name as its value alone. */
const OURS = /^=?\s*(?:__Host-)?matrx_/i;

/** Reads a link's code, or a cookie's value. */
export function parseVisitSecret(text: string): VisitSecret | undefined {
  const [account = "", grant = "", secret = "", more] = text.split(".");
  if (!isAccountId(account) || !grant || !secret || more !== undefined) return undefined;
  return { account, grant: grant as GrantId, secret };
}

export function visitSecretText({ account, grant, secret }: VisitSecret): string {
  return `${account}.${grant}.${secret}`;
}

/** `Lax`: the link is opened from anywhere. What that lets through is refused by `origin-check.ts`. */
export function visitCookie(origin: string, secret: VisitSecret, seconds: number): string {
  const secure = origin.startsWith("https:") ? "; Secure" : "";
  const value = visitSecretText(secret);
  return `${nameFor(origin)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${secure}`;
}

export function readVisitCookie(origin: string, request: Request): VisitSecret | undefined {
  const prefix = `${nameFor(origin)}=`;
  const found = cookiesOf(request.headers.get("Cookie") ?? "").find((cookie) => cookie.startsWith(prefix));
  return found === undefined ? undefined : parseVisitSecret(found.slice(prefix.length));
}

/** What the program gets of a `Cookie` header; undefined: nothing. */
export function withoutOurs(header: string): string | undefined {
  return (
    cookiesOf(header)
      .filter((cookie) => !OURS.test(cookie))
      .join("; ") || undefined
  );
}

/** What the browser gets of a program's `Set-Cookie`: for this host alone; undefined: nothing. */
export function ownCookie(header: string): string | undefined {
  const [cookie = "", ...attributes] = header.split(";");
  if (OURS.test(cookie.trim())) return undefined;
  const kept = attributes.filter((attribute) => !/^\s*domain\s*(?:=|$)/i.test(attribute));
  return [cookie, ...kept].join(";");
}

function cookiesOf(header: string): string[] {
  return header
    .split(";")
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie !== "");
}

/** With the prefix, browsers keep it from being set by other hosts of the domain. Cookies know no ports. */
function nameFor(origin: string): string {
  const { protocol, port } = new URL(origin);
  return `${protocol === "https:" ? "__Host-" : ""}matrx_visit${port && `_${port}`}`;
}

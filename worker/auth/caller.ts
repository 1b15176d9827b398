/** Authenticates callers: the only place that reads and checks a request's credential. */
import { MatrxError } from "@matrx/shared/errors.ts";
import type { AccountId, GrantId } from "@matrx/shared/ids.ts";
import { AUDIENCE, SUBPROTOCOL } from "@matrx/shared/tokens.ts";
import type { Secrets } from "../secrets.ts";
import type { AddressEnv } from "./address.ts";
import { readCookie } from "./cookie.ts";
import { noCredential, verifyToken } from "./keys.ts";
import { requireOwnOrigin } from "./origin.ts";

/** What a credential is checked with. */
type AuthEnv = Secrets & AddressEnv;

export interface Caller {
  account: AccountId;
  grant: GrantId;
  /** Milliseconds since 1970. */
  expires: number;
}

/** A caller authenticated by a ticket, which is valid once, for one device; the Device object redeems it. */
export interface TicketCaller extends Caller {
  ticket?: string;
}

/** Tokens that this isolate has verified. The objects handle revocation, so only the expiry is checked again. */
const verified = new Map<string, Caller>();
const VERIFIED_MAX = 1000;

/** The caller of a request with a bearer token or our cookie. Throws MatrxError `UNAUTHENTICATED`. */
export async function authenticate(env: AuthEnv, request: Request): Promise<Caller> {
  const bearer = bearerOf(request);
  if (bearer) return callerOf(env, AUDIENCE.caller, bearer);
  const cookie = readCookie(request);
  if (!cookie) throw missing();
  if (request.method !== "GET" && request.method !== "HEAD") requireOwnOrigin(env, request);
  return callerOf(env, AUDIENCE.web, cookie);
}

/** The caller of a WebSocket upgrade: header, subprotocol, one-use ticket, or our cookie with our Origin. */
export async function authenticateUpgrade(env: AuthEnv, request: Request): Promise<TicketCaller> {
  const bearer = bearerOf(request) ?? subprotocolToken(request);
  if (bearer) return callerOf(env, AUDIENCE.caller, bearer);
  const ticket = new URL(request.url).searchParams.get("ticket");
  if (ticket) return ticketCaller(env, ticket);
  const cookie = readCookie(request);
  if (!cookie) throw missing();
  requireOwnOrigin(env, request);
  return callerOf(env, AUDIENCE.web, cookie);
}

async function callerOf(secrets: Secrets, audience: string, token: string): Promise<Caller> {
  const known = verified.get(`${audience} ${token}`);
  if (known && known.expires > Date.now()) return known;
  const { account, subject, expires } = await verifyToken(secrets, audience, token);
  const caller = { account: account as AccountId, grant: subject as GrantId, expires };
  if (verified.size >= VERIFIED_MAX) verified.clear();
  verified.set(`${audience} ${token}`, caller);
  return caller;
}

/** A ticket's subject is `<grant> <device> <expiry of the grant's token>`. */
async function ticketCaller(secrets: Secrets, token: string): Promise<TicketCaller> {
  const { account, subject, id } = await verifyToken(secrets, AUDIENCE.ticket, token);
  const [grant = "", device = "", expires = "0"] = subject.split(" ");
  return {
    account: account as AccountId,
    grant: grant as GrantId,
    expires: Number(expires),
    ticket: `${device} ${id}`,
  };
}

/** The token of an Authorization header. Throws MatrxError for another scheme. */
export function bearerOf(request: Request): string | undefined {
  const header = request.headers.get("Authorization");
  if (!header) return undefined;
  const [scheme, token] = header.trim().split(/\s+/, 2);
  if (scheme?.toLowerCase() === "bearer" && token) return token;
  throw new MatrxError(
    noCredential("The Authorization header is not a bearer token", "Send: Authorization: Bearer <token>"),
  );
}

function subprotocolToken(request: Request): string | undefined {
  const offered = request.headers.get("Sec-WebSocket-Protocol")?.split(",") ?? [];
  const bearer = offered.map((name) => name.trim()).find((name) => name.startsWith(SUBPROTOCOL.bearer));
  return bearer?.slice(SUBPROTOCOL.bearer.length);
}

function missing(): MatrxError {
  return new MatrxError(
    noCredential(
      "A token is required",
      "Send: Authorization: Bearer <token>. The owner creates tokens on the relay's page",
    ),
  );
}

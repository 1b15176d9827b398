/** Authenticates callers: the only place that reads and checks a request's credential. A cookie is none: see `session.ts`. */
import { MatrxError } from "@matrx/shared/errors.ts";
import type { AccountId, GrantId } from "@matrx/shared/ids.ts";
import { AUDIENCE, SUBPROTOCOL } from "@matrx/shared/tokens.ts";
import { bearerOf, type Caller, type TicketCaller } from "../auth/caller.ts";
import { noCredential, verifySignature, verifyToken } from "../auth/keys.ts";
import { requireKept } from "../auth/token-hash.ts";
import type { Env } from "../env.ts";
import type { Secrets } from "../secrets.ts";
import { accountKeeper } from "./lasting-tokens.ts";

/** What knows the tokens that were given. */
type CallerEnv = Secrets & Pick<Env, "ACCOUNT" | "DIRECTORY">;

/** Tokens that this isolate has verified, by the keys that it had. The objects handle revocation, so only the expiry is checked again. */
const verified = { by: "", callers: new Map<string, Caller>() };
const VERIFIED_MAX = 1000;

/** The caller of a request with a bearer token. Throws MatrxError `UNAUTHENTICATED`. */
export async function authenticate(env: CallerEnv, request: Request): Promise<Caller> {
  const bearer = bearerOf(request);
  if (!bearer) throw missing();
  return callerOf(env, bearer);
}

/** The caller of a WebSocket upgrade: header, subprotocol, or one-use ticket. Throws MatrxError `UNAUTHENTICATED`. */
export async function authenticateUpgrade(env: CallerEnv, request: Request): Promise<TicketCaller> {
  const bearer = bearerOf(request) ?? subprotocolToken(request);
  if (bearer) return callerOf(env, bearer);
  const ticket = new URL(request.url).searchParams.get("ticket");
  if (ticket) return ticketCaller(env, ticket);
  throw missing();
}

async function callerOf(env: CallerEnv, token: string): Promise<Caller> {
  const { callers } = verifiedBy(env);
  const known = callers.get(token);
  if (known && known.expires > Date.now()) return known;
  const claims = await verifySignature(env, AUDIENCE.caller, token);
  await requireKept(claims, accountKeeper(env, claims));
  const { account, subject, expires } = claims;
  const caller = { account: account as AccountId, grant: subject as GrantId, expires };
  if (callers.size >= VERIFIED_MAX) callers.clear();
  callers.set(token, caller);
  return caller;
}

function verifiedBy({ RELAY_KEYS = "" }: Secrets): typeof verified {
  if (verified.by !== RELAY_KEYS) Object.assign(verified, { by: RELAY_KEYS, callers: new Map() });
  return verified;
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

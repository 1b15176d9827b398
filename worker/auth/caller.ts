/** Who calls, and the header that says so. */
import { MatrxError } from "@matrx/shared/errors.ts";
import type { AccountId, GrantId } from "@matrx/shared/ids.ts";
import { noCredential } from "./keys.ts";

export interface Caller {
  account: AccountId;
  grant: GrantId;
  /** Milliseconds since 1970. */
  expires: number;
  /** At a device of another account, where `account` and `grant` are the share's: the person's own session. */
  guest?: GuestSession;
}

/** The session of a person who uses another account's device. */
export interface GuestSession {
  account: AccountId;
  grant: GrantId;
  /** When the session ends, in milliseconds since 1970. */
  until: number;
}

/** A caller authenticated by a ticket, which is valid once, for one device; the Device object redeems it. */
export interface TicketCaller extends Caller {
  ticket?: string;
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

/** Reads what a caller's upgrade requests. */
import { type Hop, MatrxError } from "../errors.ts";
import { isSessionId, makeSessionId, type SessionId } from "../ids.ts";
import { SUBPROTOCOL } from "../tokens.ts";

/** The subprotocols that an upgrade offers. */
export function offeredSubprotocols(header: string | null | undefined): string[] {
  return header?.split(",").map((name) => name.trim()) ?? [];
}

/** Chooses among the subprotocols that the client offers; the token among them is never echoed. */
export function chooseSubprotocol(offered: readonly string[]): string | undefined {
  return [SUBPROTOCOL.binary, SUBPROTOCOL.v1].find((name) => offered.includes(name));
}

/** The session that a caller continues with `?session=`, or a new one. Throws MatrxError `INVALID_PARAMETERS`. */
export function requestedSession(url: URL, hop: Hop): SessionId {
  const wanted = url.searchParams.get("session");
  if (wanted === null) return makeSessionId();
  if (isSessionId(wanted)) return wanted;
  throw new MatrxError({
    code: "INVALID_PARAMETERS",
    message: "session: must be 16 hexadecimal digits",
    hint: "Leave it out for a new session; the response header Matrx-Session returns its id",
    hop,
    details: { field: "session" },
  });
}

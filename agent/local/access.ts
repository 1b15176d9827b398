/** Who may talk to the local server: this machine's programs with the token, and pages that the owner listed. */
import type { IncomingMessage } from "node:http";
import { offeredSubprotocols } from "@matrx/shared/caller/upgrade.ts";
import { agentError } from "@matrx/shared/errors.ts";
import { SUBPROTOCOL } from "@matrx/shared/tokens.ts";
import { isSameToken } from "./token.ts";

export interface AccessRules {
  /** The address that the server listens on. */
  readonly host: string;
  readonly port: number;
  /** Undefined if the owner disabled the token. */
  readonly token: string | undefined;
  /** Exact origins of pages that may call. */
  readonly allowedOrigins: readonly string[];
}

/** Checks `Host`, which refuses pages whose foreign name resolves to this machine (DNS rebinding). Throws MatrxError. */
export function checkHost(request: IncomingMessage, rules: AccessRules): void {
  const { port } = rules;
  const host = request.headers.host?.toLowerCase();
  if (host && namesOf(rules).some((name) => host === `${name}:${port}` || (port === 80 && host === name))) {
    return;
  }
  throw agentError("PERMISSION_DENIED", `The Host header "${host ?? ""}" is not this server's`, {
    hint: `Use http://localhost:${port}`,
  });
}

/** Checks `Origin`, which browsers send: this server's own, or a listed one. Throws MatrxError. */
export function checkOrigin(request: IncomingMessage, rules: AccessRules): void {
  const { origin } = request.headers;
  if (origin === undefined) return;
  const own = namesOf(rules).map((name) => `http://${name}${rules.port === 80 ? "" : `:${rules.port}`}`);
  if (own.includes(origin) || rules.allowedOrigins.includes(origin)) return;
  throw agentError("PERMISSION_DENIED", `Pages from ${origin} may not call this machine's tools`, {
    hint: `If you trust them, start the server with --allow-origin ${origin}`,
  });
}

/** The names of this server in a URL. */
function namesOf({ host }: AccessRules): string[] {
  return ["localhost", "127.0.0.1", "[::1]", host.includes(":") ? `[${host}]` : host];
}

/** Checks the token, from the Authorization header or the subprotocol of an upgrade. Throws MatrxError. */
export function checkToken(request: IncomingMessage, rules: Pick<AccessRules, "token">): void {
  const given =
    bearerOf(request) ??
    offeredSubprotocols(request.headers["sec-websocket-protocol"])
      .find(isBearer)
      ?.slice(SUBPROTOCOL.bearer.length);
  requireToken(given, rules);
}

/** Throws MatrxError `UNAUTHENTICATED`. */
export function requireToken(given: string | undefined, { token }: Pick<AccessRules, "token">): void {
  if (token === undefined || (given !== undefined && isSameToken(given, token))) return;
  const isMissing = given === undefined;
  throw agentError("UNAUTHENTICATED", isMissing ? "A token is required" : "The token is wrong", {
    ...(isMissing && { details: { reason: "no_credential" } }),
    hint: "Send the header Authorization: Bearer <token>, or for a WebSocket the subprotocol bearer.<token>; `matrx serve` prints where the token is",
  });
}

export function isBearer(subprotocol: string): boolean {
  return subprotocol.startsWith(SUBPROTOCOL.bearer);
}

function bearerOf(request: IncomingMessage): string | undefined {
  return /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
}

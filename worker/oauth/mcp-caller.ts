/** Who calls over MCP: the holder of a token of the relay's own, or of one that a client got by OAuth. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { authenticate } from "../access/authenticate.ts";
import { ownOrigin } from "../auth/address.ts";
import { bearerOf, type Caller } from "../auth/caller.ts";
import { unauthenticated } from "../auth/keys.ts";
import type { Env } from "../env.ts";
import { isGoodAt } from "./resource.ts";
import { authorizationServer, isSafe, type OAuthProps, oauthEnv } from "./server.ts";

/** Tokens of the library: account, grant and secret. The relay's own have dots instead. */
const OAUTH_TOKEN = /^[a-z0-9_-]{1,64}:[A-Za-z0-9_-]{16}:[A-Za-z0-9_-]{32}$/;

/** The caller of a request to `/mcp` or below. Throws MatrxError `UNAUTHENTICATED`. */
export async function mcpCaller(env: Env, request: Request): Promise<Caller> {
  const token = bearerOf(request);
  if (token === undefined || !token.includes(":")) return authenticate(env, request);
  const origin = ownOrigin(env, request);
  if (!OAUTH_TOKEN.test(token) || !isSafe(origin)) throw refusedError();
  const found = await authorizationServer(origin).getOAuthApi(oauthEnv(env)).unwrapToken<OAuthProps>(token);
  if (!found) throw refusedError();
  const { audience, expiresAt, grant, userId } = found;
  const path = new URL(request.url).pathname;
  if (typeof audience !== "string" || !isGoodAt(audience, origin, path)) throw elsewhereError();
  if (grant.props.account !== userId) throw refusedError();
  return { account: grant.props.account, grant: grant.props.grant, expires: expiresAt * 1000 };
}

function refusedError(): MatrxError {
  return new MatrxError(
    unauthenticated(
      "The access token is unknown, was revoked or has expired",
      "Refresh it, or sign in again",
    ),
  );
}

function elsewhereError(): MatrxError {
  return new MatrxError(
    unauthenticated("The access token is for another address", "Sign in again at this address"),
  );
}

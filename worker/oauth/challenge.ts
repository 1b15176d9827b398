/** What tells an MCP client where to sign in: the challenge of each 401 below `/mcp` (RFC 9728, section 5.1). */
import type { MiddlewareHandler } from "hono";
import { ownOrigin } from "../auth/address.ts";
import type { RelayEnv } from "../route.ts";
import { MCP_SCOPE, metadataAddress } from "./resource.ts";
import { isSafe } from "./server.ts";

/** Replaces the challenge of a 401 by one that says where to sign in. */
export const withChallenge: MiddlewareHandler<RelayEnv> = async (c, next) => {
  await next();
  if (c.res.status !== 401) return;
  const origin = ownOrigin(c.env, c.req.raw);
  if (!isSafe(origin)) return;
  const told = c.req.raw.headers.has("Authorization") ? ['error="invalid_token"'] : [];
  const metadata = `resource_metadata="${metadataAddress(origin, c.req.path)}"`;
  const parts = ['realm="matrx"', metadata, `scope="${MCP_SCOPE}"`, ...told];
  c.res.headers.set("WWW-Authenticate", `Bearer ${parts.join(", ")}`);
};

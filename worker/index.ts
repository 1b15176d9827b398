/** The relay's routes, as a table of contents. */
import { CORS_HEADERS, MCP_CORS_HEADERS } from "@matrx/shared/caller/cors.ts";
import { noRouteIn } from "@matrx/shared/caller/no-route.ts";
import { NO_SNIFFING } from "@matrx/shared/caller/problem.ts";
import { callerApi, honoPath } from "@matrx/shared/caller/route.ts";
import { Hono, type MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { getPath } from "hono/utils/url";
import { countRefusal } from "./access/refused-credentials.ts";
import { requireHost } from "./auth/address.ts";
import { refuseForeignPage } from "./auth/origin.ts";
import { discardRest } from "./body.ts";
import { serveForwardHosts } from "./forwarding/serve.ts";
import { withChallenge } from "./oauth/challenge.ts";
import { problemResponse } from "./problem.ts";
import { mount, type RelayEnv, withDevice } from "./route.ts";
import { devicePort } from "./routes/device-port.ts";
import { mountMcp } from "./routes/mcp.ts";
import { page } from "./routes/page.ts";
import {
  callerRoutes,
  managedRoutes,
  OPERATIONS,
  relayRoutes,
  rootRoutes,
  socketRoutes,
} from "./routes/relay.ts";

// biome-ignore lint/performance/noBarrelFile: the runtime finds the object classes here
export { Account } from "./account/account.ts";
export { Device } from "./device/device.ts";
export { Mcp } from "./mcp-account/mcp.ts";
export { AnonymousRateLimit } from "./objects/anonymous-rate-limit.ts";
export { Audit } from "./objects/audit.ts";
export { Directory } from "./objects/directory.ts";
export { OAuthStore } from "./objects/oauth-store.ts";
export { Pairing } from "./objects/pairing.ts";

/** Where people sign in and let others in: only our own page may use these. */
const OWN_PAGE_ONLY =
  /^\/v1\/(?:claim|session|logins|pairings|sign-in|sign-in-links|passkeys|recovery-codes|invites|shares|oauth)(?:\/|$)/;

/** Where AI clients call, and where they learn how to sign in. */
const MCP_PATHS = [
  "/mcp",
  "/mcp/*",
  "/oauth/*",
  "/.well-known/oauth-authorization-server",
  "/.well-known/oauth-protected-resource",
  "/.well-known/oauth-protected-resource/*",
];

/** What clients of OAuth read first is at an address that they make of one which may end with a slash. */
const WITH_SLASH = /^(\/\.well-known\/oauth-.*[^/])\/$/;

const app = new Hono<RelayEnv>({ getPath: (request) => getPath(request).replace(WITH_SLASH, "$1") });
const noRouteError = noRouteIn(OPERATIONS);

app.onError((error, c) => problemResponse(countRefusal(c.env, c.req.raw, error)));
app.notFound((c) => problemResponse(noRouteError(c.req.path)));
app.use(discardRest);
app.use(serveForwardHosts);
app.use(async (c, next) => {
  requireHost(c.env, c.req.raw);
  await next();
  for (const [name, value] of Object.entries(NO_SNIFFING))
    if (c.res.status !== 101 && !c.res.headers.has(name)) c.res.headers.set(name, value);
});

// Sockets come before CORS, which sets response headers: a 101 response does not allow it.
for (const { method, path, answer } of socketRoutes) app.on(method, honoPath(path), answer);

// A page of any origin may call with its own token; a cookie opens nothing.
for (const path of ["/v1/*", "/tools/*", "/openapi.json"]) app.use(path, forOtherOrigins(corsForTokens()));

// AI clients of browsers: they read where to sign in, and which session and version they were given.
for (const path of MCP_PATHS) app.use(path, forOtherOrigins(corsForMcp()));
for (const path of ["/mcp", "/mcp/*"]) app.use(path, withChallenge);
mountMcp(app);
mount(app, relayRoutes);
mount(app, managedRoutes, withDevice);
app.route("/", callerApi(callerRoutes, devicePort));
app.route("/", callerApi(rootRoutes, devicePort));
app.get("*", page);

/** Only browsers send an Origin; other requests skip the CORS headers. */
function forOtherOrigins(handler: MiddlewareHandler): MiddlewareHandler<RelayEnv> {
  return (c, next) => {
    if (!c.req.raw.headers.has("Origin")) return next();
    if (!OWN_PAGE_ONLY.test(c.req.path)) return handler(c, next);
    refuseForeignPage(c.env, c.req.raw);
    return next();
  };
}

function corsForTokens() {
  return cors({ origin: "*", ...CORS_HEADERS });
}

function corsForMcp() {
  return cors({ origin: "*", ...MCP_CORS_HEADERS });
}

export default app;

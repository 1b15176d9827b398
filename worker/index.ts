/** The relay's routes, as a table of contents. */
import { Hono, type MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { requireHost } from "./auth/address.ts";
import { refuseForeignPage } from "./auth/origin.ts";
import type { Env } from "./env.ts";
import { NO_SNIFFING, problemResponse } from "./problem.ts";
import { account } from "./routes/account.ts";
import { calls } from "./routes/calls.ts";
import { commands } from "./routes/commands.ts";
import { devices } from "./routes/devices.ts";
import { events } from "./routes/events.ts";
import { guide } from "./routes/guide.ts";
import { health } from "./routes/health.ts";
import { notFound } from "./routes/not-found.ts";
import { openapi, systemPrompt } from "./routes/openapi.ts";
import { page } from "./routes/page.ts";
import { pairings } from "./routes/pairings.ts";
import { callerSocket, deviceSocket } from "./routes/sockets.ts";
import { tokens } from "./routes/tokens.ts";
import { tools } from "./routes/tools.ts";

// biome-ignore lint/performance/noBarrelFile: the runtime finds the object classes here
export { Account } from "./objects/account.ts";
export { AnonymousRateLimit } from "./objects/anonymous-rate-limit.ts";
export { Device } from "./objects/device.ts";
export { Directory } from "./objects/directory.ts";
export { Pairing } from "./objects/pairing.ts";

/** Where people sign in and let others in: closed to every page but ours. */
const OWN_PAGE_ONLY = /^\/v1\/(?:claim|logins|pairings|sign-in-links)(?:\/|$)/;

const app = new Hono<{ Bindings: Env }>();

app.onError((error) => problemResponse(error));
app.notFound((c) => notFound(c.req.path, app));
app.use(async (c, next) => {
  requireHost(c.env, c.req.raw);
  await next();
  for (const [name, value] of Object.entries(NO_SNIFFING))
    if (c.res.status !== 101 && !c.res.headers.has(name)) c.res.headers.set(name, value);
});

// Sockets: before anything that touches response headers, which a 101 does not allow.
app.get("/v1/device/ws", deviceSocket);
app.get("/ws", deviceSocket);
app.get("/v1/devices/:device/ws", callerSocket);

// A page of any origin may call with a token of its own; the cookie is not sent across origins.
for (const path of ["/v1/*", "/tools/*", "/openapi.json"]) app.use(path, forOtherOrigins(corsForTokens()));

app.route("/", health);
app.route("/", openapi);
app.route("/v1", account);
app.route("/v1/tokens", tokens);
app.route("/v1", pairings);
app.route("/v1/devices", devices);
app.route("/v1/devices/:device/tools", tools);
app.route("/v1/devices/:device/calls", calls);
app.route("/v1/devices/:device/system-prompt", systemPrompt);
app.route("/v1/devices/:device/events", events);
app.route("/v1/devices/:device/commands", commands);
app.route("/tools", guide);
app.get("/docs", page);
app.get("*", page);

/** Only a browser sends an Origin; other requests are spared the headers. */
function forOtherOrigins(handler: MiddlewareHandler): MiddlewareHandler<{ Bindings: Env }> {
  return (c, next) => {
    if (!c.req.raw.headers.has("Origin")) return next();
    if (!OWN_PAGE_ONLY.test(c.req.path)) return handler(c, next);
    refuseForeignPage(c.env, c.req.raw);
    return next();
  };
}

function corsForTokens() {
  return cors({
    origin: "*",
    allowHeaders: [
      "Authorization",
      "Content-Type",
      "Idempotency-Key",
      "Last-Event-ID",
      "Matrx-Call",
      "Matrx-Session",
      "X-Matrx-Device",
    ],
    exposeHeaders: ["Matrx-Call", "Matrx-Session", "Location", "Retry-After", "WWW-Authenticate"],
    maxAge: 600,
  });
}

export default app;

/** The local server's HTTP application: access checks, routes and errors. */
import type { HttpBindings } from "@hono/node-server";
import { CORS_HEADERS } from "@matrx/shared/caller/cors.ts";
import { NO_SNIFFING, problemOfShape } from "@matrx/shared/caller/problem.ts";
import { callerApi, honoPath } from "@matrx/shared/caller/route.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import { type Context, Hono } from "hono";
import { cors } from "hono/cors";
import type { Logger } from "pino";
import { toldError } from "../core/incident.ts";
import { type AccessRules, checkHost, checkOrigin, checkToken } from "./access.ts";
import { notAnyMore } from "./legacy.ts";
import { type LocalHost, LocalPort } from "./port.ts";
import { REFERENCE_PATHS, referenceFile } from "./reference.ts";
import { callerRoutes, noRouteError, openRoutes } from "./routes.ts";

interface LocalEnv {
  Bindings: HttpBindings;
}

export interface LocalAppOptions {
  readonly host: LocalHost;
  /** Known once the server listens. */
  readonly rules: () => AccessRules;
  readonly log: Logger;
}

const HEADERS = { ...NO_SNIFFING, "Cache-Control": "no-store" } as const;

export function localApp({ host, rules, log }: LocalAppOptions): Hono<LocalEnv> {
  const app = new Hono<LocalEnv>();
  app.onError((error) => problemOfShape(shapeHere(error, log)));
  app.use(async (c, next) => {
    checkHost(c.env.incoming, rules());
    checkOrigin(c.env.incoming, rules());
    await next();
    for (const [name, value] of Object.entries(HEADERS))
      if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  });
  const allowOrigin = cors({ origin: (origin) => origin, allowMethods: ["GET", "POST"], ...CORS_HEADERS });
  app.use((c, next) => {
    if (!c.req.raw.headers.has("Origin")) return next();
    // Lets allowed pages on the internet reach a machine on the private network.
    if (c.req.method === "OPTIONS") c.header("Access-Control-Allow-Private-Network", "true");
    return allowOrigin(c, next);
  });
  for (const { method, path, answer } of openRoutes) app.on(method, honoPath(path), answer);
  for (const path of REFERENCE_PATHS) app.get(path, (c) => referenceFile(c.req.path));
  const portOf = (c: Context<LocalEnv>) => {
    checkToken(c.env.incoming, rules());
    return new LocalPort(host, c.req.raw.signal);
  };
  app.route("/", callerApi(callerRoutes, portOf));
  app.notFound((c) => {
    checkToken(c.env.incoming, rules());
    throw notAnyMore(c.req.path) ?? noRouteError(c.req.path);
  });
  return app;
}

/** The shape of any thrown value in this server's name, including errors of code shared with the relay. */
export function shapeHere(error: unknown, log: Logger): ErrorShape {
  const shape = toldError(error, log, "a request failed");
  return shape.hop === "relay" ? { ...shape, hop: "agent" } : shape;
}

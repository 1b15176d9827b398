/** Routes of the caller API. A route is its description and its handler together. */
import { type Context, type Env, Hono, type HonoRequest } from "hono";
import type { Operation } from "../openapi/operation.ts";

/** A route of one device; its path is relative to the device's. */
export interface CallerRoute<Port> extends Operation {
  /** Throws MatrxError, or what the host logs and answers with `INTERNAL`. */
  readonly answer: (port: Port, request: HonoRequest) => Response | Promise<Response>;
}

/** The HTTP API of one device. `portOf` finds the device of a request, or throws MatrxError. */
export function callerApi<Port, E extends Env>(
  routes: readonly CallerRoute<Port>[],
  portOf: (c: Context<E>) => Port | Promise<Port>,
): Hono<E> {
  const app = new Hono<E>();
  for (const { method, path, answer } of routes)
    app.on(method, honoPath(path), async (c) => answer(await portOf(c), c.req));
  return app;
}

/** The same routes under a base path. */
export function under<Route extends Operation>(base: string, routes: readonly Route[]): Route[] {
  return routes.map((route) => ({ ...route, path: base + route.path }));
}

/** Converts an OpenAPI path to Hono's syntax; `{path}` is all that is left of it, line breaks included. */
export function honoPath(path: string): string {
  return path.replace("{path}", ":path{[^]+}").replace(/\{(\w+)\}/g, ":$1");
}

/** Routes of the relay. A route is its description and its handler; access is checked before the handler runs. */
import { honoPath } from "@matrx/shared/caller/route.ts";
import { relayError } from "@matrx/shared/errors.ts";
import type { Operation } from "@matrx/shared/openapi/operation.ts";
import type { Context, Handler, Hono, MiddlewareHandler } from "hono";
import { authenticate } from "./access/authenticate.ts";
import type { Caller } from "./auth/caller.ts";
import type { Device } from "./device/device.ts";
import type { Env } from "./env.ts";
import { unwrap } from "./outcome.ts";
import { reachDevice } from "./reach.ts";

export interface RelayEnv {
  Bindings: Env;
  Variables: {
    /** Where the description says `caller` or `person`. */
    caller: Caller;
    /** Where `withDevice` found it. */
    device: DurableObjectStub<Device>;
  };
}

export interface RelayRoute extends Operation {
  readonly answer: (c: Context<RelayEnv>) => Response | Promise<Response>;
}

export function mount(
  app: Hono<RelayEnv>,
  routes: readonly RelayRoute[],
  ...before: MiddlewareHandler<RelayEnv>[]
): void {
  for (const { method, path, access, answer } of routes) {
    const needsCaller = access === "caller" || access === "person";
    const handlers: Handler<RelayEnv>[] = [
      ...(needsCaller ? [withCaller] : []),
      ...(access === "person" ? [withPerson] : []),
      ...before,
      ...(access === "person" ? [withoutGuests] : []),
      answer,
    ];
    for (const handler of handlers) app.on(method, honoPath(path), handler);
  }
}

const withCaller: MiddlewareHandler<RelayEnv> = async (c, next) => {
  c.set("caller", await authenticate(c.env, c.req.raw));
  await next();
};

/** Refuses tokens, scripts' and AIs', before anything else is looked at. */
const withPerson: MiddlewareHandler<RelayEnv> = async (c, next) => {
  const { account, grant } = c.var.caller;
  unwrap(await c.env.ACCOUNT.getByName(account).requirePerson(grant));
  await next();
};

/** Finds the device in the path. At one that another account shares, the caller is a guest from here on. */
export const withDevice: MiddlewareHandler<RelayEnv> = async (c, next) => {
  const { device, caller } = await reachDevice(c.env, c.var.caller, c.req.param("device") ?? "");
  c.set("device", device);
  c.set("caller", caller);
  await next();
};

/** What takes a person takes one of the device's own account. */
const withoutGuests: MiddlewareHandler<RelayEnv> = async (c, next) => {
  if (!c.var.caller.guest) return next();
  throw relayError("PERMISSION_DENIED", "Only the device's owner may do this", {
    hint: "The device is shared with you; GET /v1/shares says what you may do there",
  });
};

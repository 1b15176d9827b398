/** Answers requests to the hosts of ports. Nothing of the relay's own is there but the path that begins a visit. */

import type { DeviceId } from "@matrx/shared/ids.ts";
import { randomBase32 } from "@matrx/shared/ids.ts";
import type { Context, MiddlewareHandler } from "hono";
import type { Visited } from "../account/port-links.ts";
import { hashOf } from "../auth/token-hash.ts";
import type { Env } from "../env.ts";
import { knownAccount } from "../known-accounts.ts";
import { DevicePort } from "../port/device-port.ts";
import { reachDevice } from "../reach.ts";
import type { RelayEnv } from "../route.ts";
import { parseVisitSecret, readVisitCookie, visitCookie } from "./cookies.ts";
import { forward } from "./exchange.ts";
import { originsOf } from "./headers.ts";
import { type ForwardHost, forwardHostOf } from "./hosts.ts";
import { isForeign } from "./origin-check.ts";
import { notVisiting, told, toldError } from "./pages.ts";
import { isOfWholeHost } from "./service-workers.ts";
import { forwardSocket } from "./web-socket.ts";

/** Where a link's code is exchanged for the cookie. */
export const ENTER = "/.matrx/enter/";

/** 130 bits. */
export const SECRET_CHARACTERS = 26;

/** Before all routes of the relay: on these hosts none of them answers. */
export const serveForwardHosts: MiddlewareHandler<RelayEnv> = async (c: Context<RelayEnv>, next) => {
  const host = forwardHostOf(c.env, c.req.raw);
  if (!host) return next();
  try {
    return await answer(c.env, c.req.raw, host);
  } catch (error) {
    return toldError(error);
  }
};

async function answer(env: Env, request: Request, { origin, visited }: ForwardHost): Promise<Response> {
  if (!visited) return told(404, "This address names no port of a device");
  const { pathname } = new URL(request.url);
  if (pathname.startsWith("/.matrx/")) return await enter(env, request, origin, visited);
  if (isForeign(origin, request))
    return told(403, "Another site's page may not use this one. Open it in a tab of its own.");
  if (isOfWholeHost(request))
    return told(
      403,
      "A service worker may not see this whole host. Serve it from a folder, for what is in there.",
    );
  const secret = readVisitCookie(origin, request);
  const account = secret && (await knownAccount(env, secret.account));
  const visit = account && (await account.portVisit(secret.grant, await hashOf(secret.secret), visited));
  if (!visit) return notVisiting();
  const caller = { account: secret.account, grant: secret.grant, expires: visit.expires };
  const { caller: reached, device } = await reachDevice(env, caller, visited.device);
  const port = new DevicePort(env, reached, visited.device as DeviceId, device);
  const to = { device: port, port: visited.port, origins: originsOf(origin, visited.port) };
  const isSocket = request.headers.get("Upgrade")?.toLowerCase() === "websocket";
  return isSocket ? await forwardSocket(to, request) : await forward(to, request);
}

async function enter(env: Env, request: Request, origin: string, visited: Visited): Promise<Response> {
  const { pathname } = new URL(request.url);
  // Programs that look where a link leads must not use it up.
  if (request.method !== "GET") return told(405, "Open the link in a browser");
  const code = pathname.startsWith(ENTER) ? parseVisitSecret(pathname.slice(ENTER.length)) : undefined;
  const account = code && (await knownAccount(env, code.account));
  if (!account) return notVisiting();
  const secret = { ...code, secret: randomBase32(SECRET_CHARACTERS) };
  const hashes = [await hashOf(code.secret), await hashOf(secret.secret)] as const;
  const visit = await account.enterPort(code.grant, hashes[0], visited, hashes[1]);
  if (!visit) return notVisiting();
  const seconds = Math.max(1, Math.floor((visit.expires - Date.now()) / 1000));
  return new Response(null, {
    status: 303,
    headers: {
      Location: "/",
      "Set-Cookie": visitCookie(origin, secret, seconds),
      "Cache-Control": "no-store",
      "Referrer-Policy": "no-referrer",
    },
  });
}

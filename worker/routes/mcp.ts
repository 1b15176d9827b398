/** MCP: one address for all of a caller's devices, and one for each. What is said there is the protocol's own. */
import { honoPath } from "@matrx/shared/caller/route.ts";
import type { Context, Hono } from "hono";
import { linkOrigin } from "../auth/address.ts";
import { forwarded, MCP_PATH } from "../mcp/forward.ts";
import { mcpCaller } from "../oauth/mcp-caller.ts";
import { reachDevice } from "../reach.ts";
import type { RelayEnv } from "../route.ts";

const DEVICE_PATH = `${MCP_PATH}/d/{device}`;

/** Mounts both endpoints, for every method: the protocol answers those that it does not know itself. */
export function mountMcp(app: Hono<RelayEnv>): void {
  // Some people, and programs, write a slash at the end.
  for (const end of ["", "/"]) {
    app.all(MCP_PATH + end, allDevices);
    app.all(honoPath(DEVICE_PATH) + end, oneDevice);
  }
}

async function allDevices(c: Context<RelayEnv>): Promise<Response> {
  const caller = await mcpCaller(c.env, c.req.raw);
  const request = await forwarded(c.req.raw, caller, linkOrigin(c.env, c.req.raw));
  return fromObject(await c.env.MCP.getByName(caller.grant).fetch(request));
}

async function oneDevice(c: Context<RelayEnv>): Promise<Response> {
  const { device, caller } = await reachDevice(
    c.env,
    await mcpCaller(c.env, c.req.raw),
    c.req.param("device") ?? "",
  );
  const request = await forwarded(c.req.raw, caller, linkOrigin(c.env, c.req.raw));
  return fromObject(await device.fetch(request));
}

/** The response with headers that can be added to. */
function fromObject(response: Response): Response {
  return new Response(response.body, response);
}

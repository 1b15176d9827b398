/** Requests to the MCP endpoints of objects, which trust the Worker's word on who calls. */
import { readBounded } from "@matrx/shared/caller/body.ts";
import { familiesOf } from "@matrx/shared/caller/request.ts";
import type { Caller } from "../auth/caller.ts";
import { CALLER_BODY } from "../body.ts";
import { callerHeaders } from "../socket.ts";

/** Paths of MCP at the relay; below the second, a device's id. */
export const MCP_PATH = "/mcp";
const DEVICE_PATH = `${MCP_PATH}/d/`;

/** The same request for an object, from this caller, at the relay's own address; nobody's slow body keeps an object waiting. Rejects with MatrxError. */
export async function forwarded(request: Request, caller: Caller, origin: string): Promise<Request> {
  const { pathname } = new URL(request.url);
  const { method } = request;
  const headers = callerHeaders(request, caller);
  const body = method === "POST" ? await readBounded(request, CALLER_BODY) : undefined;
  const tools = familiesOf(request)?.join();
  const query = tools === undefined ? "" : `?tools=${tools}`;
  return new Request(`${origin}${pathname}${query}`, {
    method,
    headers,
    ...(body !== undefined && { body }),
  });
}

/** Whether a request that reached a Device object is one for its MCP endpoint. */
export function isForMcp(request: Request): boolean {
  return new URL(request.url).pathname.startsWith(DEVICE_PATH);
}

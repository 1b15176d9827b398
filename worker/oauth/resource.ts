/** What OAuth tokens are good for (RFC 8707): `/mcp` and all below it, or `/mcp/d/{device}` alone. */
import { type DeviceId, isDeviceId } from "@matrx/shared/ids.ts";

export const MCP_PATH = "/mcp";
const DEVICE_PATH = /^\/mcp\/d\/([^/]+)$/;

/** The one scope: what a client may do is in its grant, which the person chose. */
export const MCP_SCOPE = "mcp";

/** The resource that a path belongs to, written with a slash at its end or without; undefined: none. Whether the device exists is not looked at. */
export function resourceOfPath(origin: string, written: string): string | undefined {
  const path = written.replace(/\/$/, "");
  if (path === MCP_PATH) return origin + MCP_PATH;
  return deviceOfPath(path) === undefined ? undefined : origin + path;
}

/** The resource that a client names; undefined: it is none of this relay. */
export function resourceNamed(origin: string, text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.origin !== origin || url.username || url.password || url.hash) return undefined;
  return resourceOfPath(origin, url.pathname);
}

/** The device that a resource is for; undefined: all of a grant's. */
export function deviceOf(resource: string): DeviceId | undefined {
  return deviceOfPath(new URL(resource).pathname);
}

/** Whether a token for a resource is good at a path of this origin. */
export function isGoodAt(resource: string, origin: string, path: string): boolean {
  const [at, below] = [origin + path, `${resource}/`];
  return at === resource || at.startsWith(below);
}

/** Where the metadata of a path's resource is (RFC 9728). */
export function metadataAddress(origin: string, path: string): string {
  const resource = resourceOfPath(origin, path) ?? origin + MCP_PATH;
  return `${origin}/.well-known/oauth-protected-resource${resource.slice(origin.length)}`;
}

function deviceOfPath(path: string): DeviceId | undefined {
  const device = DEVICE_PATH.exec(path)?.[1];
  return device !== undefined && isDeviceId(device) ? device : undefined;
}

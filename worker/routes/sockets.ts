/** Upgrades: the Worker checks what it can and steps out; both ends of a call end in the Device object. */
import { MatrxError } from "@matrx/shared/errors.ts";
import type { Context } from "hono";
import { prefixOf } from "../auth/anonymous-rate-limit.ts";
import { authenticateUpgrade } from "../auth/caller.ts";
import { publicKeys } from "../auth/keys.ts";
import { refuseForeignPage } from "../auth/origin.ts";
import { callerUpgrade, deviceUpgrade } from "../device/socket.ts";
import type { Env } from "../env.ts";
import { knownDevice, ownDevice } from "../known-devices.ts";

type SocketContext = Context<{ Bindings: Env }>;

/** The device link. Its credential comes in the first message. */
export async function deviceSocket(c: SocketContext): Promise<Response> {
  refuseForeignPage(c.env, c.req.raw);
  const id = c.req.query("device");
  if (!id) throw noDevice();
  await publicKeys(c.env);
  const { device, account } = await knownDevice(c.env, id);
  requireUpgrade(c.req.raw);
  return device.fetch(deviceUpgrade(c.req.raw, account, prefixOf(c.env, c.req.raw)));
}

/** The caller link of one device. */
export async function callerSocket(c: SocketContext): Promise<Response> {
  const caller = await authenticateUpgrade(c.env, c.req.raw);
  const device = await ownDevice(c.env, caller.account, c.req.param("device") ?? "");
  requireUpgrade(c.req.raw);
  return device.fetch(callerUpgrade(c.req.raw, caller));
}

function requireUpgrade(request: Request): void {
  if (request.headers.get("Upgrade")?.toLowerCase() === "websocket") return;
  throw new MatrxError({
    code: "INVALID_MESSAGE",
    message: "This path accepts only WebSockets",
    hint: "Open it with a WebSocket client (ws:// or wss://)",
    hop: "relay",
  });
}

function noDevice(): MatrxError {
  return new MatrxError({
    code: "INVALID_PARAMETERS",
    message: "device: the address doesn't say which device is connecting",
    hint: "Connect to /v1/device/ws?device=<id>; POST /v1/devices gives an id and a token",
    hop: "relay",
    details: { field: "device" },
  });
}

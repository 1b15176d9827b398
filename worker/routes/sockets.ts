/** Upgrades: the Worker checks what it can and steps aside; both the caller's and the device's socket end in the Device object. */
import { DEVICE, PATH } from "@matrx/shared/caller/parts.ts";
import { under } from "@matrx/shared/caller/route.ts";
import { notUpgradedError, socketOperation, switched } from "@matrx/shared/caller/socket.ts";
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { Context } from "hono";
import { prefixOf } from "../access/anonymous-rate-limit.ts";
import { authenticateUpgrade } from "../access/authenticate.ts";
import { publicKeys } from "../auth/keys.ts";
import { refuseForeignPage } from "../auth/origin.ts";
import { knownDevice } from "../known-devices.ts";
import { reachDevice } from "../reach.ts";
import type { RelayEnv, RelayRoute } from "../route.ts";
import { callerUpgrade, deviceUpgrade } from "../socket.ts";

const DIALLED = { device: { ...PATH.device, description: "The device that is connecting", required: true } };

export const deviceSocketRoutes: readonly RelayRoute[] = (["/v1/device/ws", "/ws"] as const).map((path) => ({
  method: "GET",
  path,
  id: path === "/ws" ? "openDeviceLinkAtRoot" : "openDeviceLink",
  tag: "Links",
  summary: path === "/ws" ? "Device link, at the root" : "Device link (WebSocket)",
  description: `Requests without \`Upgrade: websocket\` get 400. Example: \`${path}?device=${DEVICE}\`.`,
  access: "device",
  query: DIALLED,
  answers: { 101: switched("device link") },
  errors: ["INVALID_MESSAGE", "INVALID_PARAMETERS", "UNKNOWN_DEVICE", "UNAVAILABLE", "RATE_LIMITED"],
  answer: deviceSocket,
}));

/** Mounted separately: an upgrade has its own credentials. */
export const callerSocketRoutes: readonly RelayRoute[] = under("/v1/devices/{device}", [
  { ...socketOperation, answer: callerSocket },
]);

/** What a person's screens are told of all devices. */
export const accountSocketRoutes: readonly RelayRoute[] = [
  {
    method: "GET",
    path: "/v1/account/ws",
    id: "openAccountLink",
    tag: "Links",
    summary: "Account link (WebSocket)",
    description:
      "Tells a signed-in person which calls wait for a decision, and what became of them. Browsers authenticate with the subprotocols `matrx.v1, bearer.TOKEN`.",
    access: "person",
    answers: { 101: switched("account link") },
    errors: ["INVALID_MESSAGE", "RATE_LIMITED"],
    answer: accountSocket,
  },
];

/** The account link; the Account checks that it is a person's. */
async function accountSocket(c: Context<RelayEnv>): Promise<Response> {
  const caller = await authenticateUpgrade(c.env, c.req.raw);
  if (caller.ticket) throw ticketForDevice();
  requireUpgrade(c.req.raw);
  return c.env.ACCOUNT.getByName(caller.account).fetch(callerUpgrade(c.req.raw, caller));
}

/** The device link. Its credential comes in the first message. */
async function deviceSocket(c: Context<RelayEnv>): Promise<Response> {
  refuseForeignPage(c.env, c.req.raw);
  const id = c.req.query("device");
  if (!id) throw noDevice();
  await publicKeys(c.env);
  const { device, account } = await knownDevice(c.env, id);
  requireUpgrade(c.req.raw);
  return device.fetch(deviceUpgrade(c.req.raw, account, prefixOf(c.env, c.req.raw)));
}

/** The caller link of one device. */
async function callerSocket(c: Context<RelayEnv>): Promise<Response> {
  const caller = await authenticateUpgrade(c.env, c.req.raw);
  const reached = await reachDevice(c.env, caller, c.req.param("device") ?? "");
  requireUpgrade(c.req.raw);
  return reached.device.fetch(callerUpgrade(c.req.raw, reached.caller));
}

function requireUpgrade(request: Request): void {
  if (request.headers.get("Upgrade")?.toLowerCase() === "websocket") return;
  throw notUpgradedError();
}

function ticketForDevice(): MatrxError {
  return relayError("PERMISSION_DENIED", "A ticket opens the caller link of one device only", {
    hint: "Use the subprotocols matrx.v1, bearer.TOKEN",
  });
}

function noDevice(): MatrxError {
  return relayError("INVALID_PARAMETERS", "device: the address doesn't say which device is connecting", {
    hint: "Connect to /v1/device/ws?device=<id>; POST /v1/devices gives an id and a token",
    details: { field: "device" },
  });
}

/** The devices of an account. */
import {
  changedDeviceSchema,
  createdDeviceSchema,
  type DeviceView,
  deviceListSchema,
  deviceViewSchema,
  newDeviceSchema,
} from "@matrx/shared/api.ts";
import { readBody } from "@matrx/shared/caller/body.ts";
import { DEVICE } from "@matrx/shared/caller/parts.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { DeviceId } from "@matrx/shared/ids.ts";
import { AUDIENCE, LIFETIME } from "@matrx/shared/tokens.ts";
import type * as z from "zod";
import type { Caller } from "../auth/caller.ts";
import { signToken } from "../auth/keys.ts";
import { hashOf } from "../auth/token-hash.ts";
import { CALLER_BODY } from "../body.ts";
import type { Env } from "../env.ts";
import { logWarning } from "../log.ts";
import { unwrap } from "../outcome.ts";
import { type ReachableDevice, reachableDevices, reachDevice } from "../reach.ts";
import type { RelayRoute } from "../route.ts";

type DeviceList = z.infer<typeof deviceListSchema>;

const DEVICE_VIEW_EXAMPLE = {
  id: DEVICE,
  name: "laptop",
  kind: "agent",
  state: "ONLINE",
  last_seen: "2026-02-12T10:30:00.000Z",
  proof: { at: "2026-02-12T10:29:58.000Z", verdict: "success", tool: "SystemInfo", ms: 12.5 },
  hostname: "ann-laptop",
  os: "Linux",
  os_version: "Debian GNU/Linux 13",
  agent_version: "0.1.0",
  created: "2026-01-01T09:00:00.000Z",
  tags: ["work"],
};

export const devicesRoutes: readonly RelayRoute[] = [
  {
    method: "GET",
    path: "/v1/devices",
    id: "listDevices",
    tag: "Devices",
    summary: "List devices",
    description: "With each device's state, when it was last seen, and when a real tool last answered.",
    access: "caller",
    answers: {
      200: {
        description: "The devices that the credential may use",
        schema: deviceListSchema,
        example: { devices: [DEVICE_VIEW_EXAMPLE] },
      },
    },
    // Each device is asked for its state; devices whose objects fail are listed separately and logged.
    answer: async (c) => {
      const { caller } = c.var;
      const entries = await reachableDevices(c.env, caller);
      const views = await Promise.all(entries.map((entry) => viewOf(c.env, entry)));
      const unreadable = entries.filter((_, index) => !views[index]).map(({ id, name }) => ({ id, name }));
      const list: DeviceList = { devices: views.filter((view) => view !== undefined) };
      return c.json(unreadable.length > 0 ? { ...list, unreadable } : list);
    },
  },
  {
    method: "POST",
    path: "/v1/devices",
    id: "createDevice",
    tag: "Devices",
    summary: "Add a bare device",
    description:
      "For programs that implement only the device document; machines with our agent are paired instead. The token is shown only once.",
    access: "person",
    body: { schema: newDeviceSchema, example: { name: "thermostat" } },
    answers: {
      201: {
        description: "The device and its token",
        schema: createdDeviceSchema,
        example: {
          device: DEVICE_VIEW_EXAMPLE,
          token: "eyJhbGciOiJFZERTQSJ9.e30.c2ln",
          expires: "2026-04-01T09:00:00.000Z",
        },
      },
    },
    errors: ["CONFLICT"],
    answer: async (c) => {
      const { caller } = c.var;
      const { name } = await readBody(c.req.raw, CALLER_BODY, newDeviceSchema);
      const tokenId = crypto.randomUUID();
      const identity = { kind: "bare", token: await hashOf(tokenId) } as const;
      const account = c.env.ACCOUNT.getByName(caller.account);
      const { id } = unwrap(await account.addDevice(caller.grant, name, identity));
      const names = { account: caller.account, subject: id, id: tokenId };
      const token = await signToken(c.env, AUDIENCE.device, names, LIFETIME.device);
      const device = await c.env.DEVICE.getByName(id).view(caller.account);
      const expires = new Date(Date.now() + LIFETIME.device * 1000).toISOString();
      c.header("Cache-Control", "no-store");
      return c.json({ device, token, expires }, 201);
    },
  },
  {
    method: "GET",
    path: "/v1/devices/{device}",
    id: "getDevice",
    tag: "Devices",
    summary: "One device",
    access: "caller",
    answers: {
      200: { description: "The device", schema: deviceViewSchema, example: DEVICE_VIEW_EXAMPLE },
    },
    answer: async (c) => {
      const { caller } = c.var;
      const id = c.req.param("device") ?? "";
      try {
        const { device, caller: there, sharedBy } = await reachDevice(c.env, caller, id);
        return c.json(seenBy(unwrap(await device.viewFor(there)), sharedBy));
      } catch (error) {
        throw await withRemoval(c.env, caller, id, error);
      }
    },
  },
];

/** Routes of the device in the path. */
export const deviceRoutes: readonly RelayRoute[] = [
  {
    method: "PATCH",
    path: "/v1/devices/{device}",
    id: "changeDevice",
    tag: "Devices",
    summary: "Rename or tag a device",
    description:
      "Its id stays the same. Tokens made for a tag follow it: where a device loses it, they end at once.",
    access: "person",
    body: { schema: changedDeviceSchema, example: { name: "laptop", tags: ["work"] }, optional: true },
    answers: {
      200: { description: "The device", schema: deviceViewSchema, example: DEVICE_VIEW_EXAMPLE },
    },
    answer: async (c) => {
      const { caller, device } = c.var;
      const id = c.req.param("device") as DeviceId;
      const change = await readBody(c.req.raw, CALLER_BODY, changedDeviceSchema);
      unwrap(await c.env.ACCOUNT.getByName(caller.account).describeDevice(caller.grant, id, change));
      return c.json(unwrap(await device.viewFor(caller)));
    },
  },
  {
    method: "DELETE",
    path: "/v1/devices/{device}",
    id: "removeDevice",
    tag: "Devices",
    summary: "Remove a device",
    description: "Its key or token stops working. It must be paired again to come back.",
    access: "person",
    answers: { 204: { description: "Removed" } },
    answer: async (c) => {
      const { caller } = c.var;
      const id = c.req.param("device") as DeviceId;
      unwrap(await c.env.ACCOUNT.getByName(caller.account).removeDevice(caller.grant, id));
      return c.body(null, 204);
    },
  },
];

async function viewOf(env: Env, { id, account, sharedBy }: ReachableDevice): Promise<DeviceView | undefined> {
  try {
    const view = await env.DEVICE.getByName(id).view(account);
    return view && seenBy(view, sharedBy);
  } catch (error) {
    logWarning(`device ${id} does not tell its state`, error);
    return undefined;
  }
}

/** What a guest sees: who shares the device, and neither how its owner sorts it nor what others called there. */
function seenBy(view: DeviceView, sharedBy: string | undefined): DeviceView {
  return sharedBy === undefined ? view : { ...view, tags: [], proof: null, shared_by: sharedBy };
}

/** Adds to `UNKNOWN_DEVICE` when a person removed the device; without it, the relay has lost its data. */
async function withRemoval(env: Env, caller: Caller, id: string, error: unknown): Promise<unknown> {
  if (!(error instanceof MatrxError) || error.code !== "UNKNOWN_DEVICE") return error;
  const at = unwrap(await env.ACCOUNT.getByName(caller.account).removedAt(caller.grant, id));
  if (at === undefined) return error;
  return new MatrxError({ ...error.shape(), details: { removed: new Date(at).toISOString() } });
}

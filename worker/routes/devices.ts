/** The devices of an account. */
import {
  type DeviceView,
  type deviceListSchema,
  newDeviceSchema,
  renamedDeviceSchema,
} from "@matrx/shared/api.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { DeviceId } from "@matrx/shared/ids.ts";
import { isLongerThan } from "@matrx/shared/json-input.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { policySchema } from "@matrx/shared/policy.ts";
import { AUDIENCE, LIFETIME } from "@matrx/shared/tokens.ts";
import { Hono } from "hono";
import type * as z from "zod";
import { authenticate, type Caller } from "../auth/caller.ts";
import { signToken } from "../auth/keys.ts";
import type { Env } from "../env.ts";
import { ownDevice } from "../known-devices.ts";
import { logWarning } from "../log.ts";
import { unwrap } from "../outcome.ts";
import { unknownDeviceError } from "../refusals.ts";
import { readBody } from "./body.ts";

type DeviceList = z.infer<typeof deviceListSchema>;

export const devices = new Hono<{ Bindings: Env }>();

/** Each device is asked for its state; one whose object fails is named apart, and said in the log. */
devices.get("/", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  const entries = unwrap(await c.env.ACCOUNT.getByName(caller.account).listDevices(caller.grant));
  const views = await Promise.all(entries.map(({ id }) => viewOf(c.env, id, caller.account)));
  const unreadable = entries.filter((_, index) => !views[index]).map(({ id, name }) => ({ id, name }));
  const list: DeviceList = { devices: views.filter((view) => view !== undefined) };
  return c.json(unreadable.length > 0 ? { ...list, unreadable } : list);
});

/** A bare device gets its id and a token for 90 days, shown once. */
devices.post("/", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  const { name } = await readBody(c.req.raw, newDeviceSchema);
  const tokenId = crypto.randomUUID();
  const account = c.env.ACCOUNT.getByName(caller.account);
  const { id } = unwrap(await account.addDevice(caller.grant, name, { kind: "bare", tokenId }));
  const names = { account: caller.account, subject: id, id: tokenId };
  const token = await signToken(c.env, AUDIENCE.device, names, LIFETIME.device);
  const device = await c.env.DEVICE.getByName(id).view(caller.account);
  const expires = new Date(Date.now() + LIFETIME.device * 1000).toISOString();
  c.header("Cache-Control", "no-store");
  return c.json({ device, token, expires }, 201);
});

devices.get("/:device", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  const id = c.req.param("device");
  try {
    const device = await ownDevice(c.env, caller.account, id);
    return c.json(unwrap(await device.viewFor(caller)));
  } catch (error) {
    throw await withRemoval(c.env, caller, id, error);
  }
});

/** Its name; the id, which is made of the first one, stays. */
devices.patch("/:device", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  const id = c.req.param("device") as DeviceId;
  const device = await ownDevice(c.env, caller.account, id);
  const { name } = await readBody(c.req.raw, renamedDeviceSchema);
  unwrap(await c.env.ACCOUNT.getByName(caller.account).renameDevice(caller.grant, id, name));
  return c.json(unwrap(await device.viewFor(caller)));
});

devices.delete("/:device", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  const id = c.req.param("device");
  await ownDevice(c.env, caller.account, id);
  const device = await c.env.ACCOUNT.getByName(caller.account).listDevices(caller.grant);
  const entry = unwrap(device).find((candidate) => candidate.id === id);
  if (!entry) throw unknownDeviceError(id);
  unwrap(await c.env.ACCOUNT.getByName(caller.account).removeDevice(caller.grant, entry.id));
  return c.body(null, 204);
});

devices.get("/:device/policy", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  const device = await ownDevice(c.env, caller.account, c.req.param("device"));
  return c.json(unwrap(await device.policy(caller)));
});

/** The owner's limits for this device; the device's own file holds besides. */
devices.put("/:device/policy", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  const device = await ownDevice(c.env, caller.account, c.req.param("device"));
  unwrap(await c.env.ACCOUNT.getByName(caller.account).requirePerson(caller.grant));
  unwrap(await device.viewFor(caller));
  const policy = await readBody(c.req.raw, policySchema);
  if (isLongerThan(JSON.stringify(policy), LIMITS.policyBytes)) throw tooLargePolicy();
  const warnings = unwrap(await device.setPolicy(policy));
  return c.json({ ...policy, ...(warnings.length > 0 && { warnings }) });
});

async function viewOf(env: Env, id: DeviceId, account: string): Promise<DeviceView | undefined> {
  try {
    return await env.DEVICE.getByName(id).view(account);
  } catch (error) {
    logWarning(`device ${id} does not tell its state`, error);
    return undefined;
  }
}

/** Adds to `UNKNOWN_DEVICE` when a person removed the device; without that, the relay lost its data. */
async function withRemoval(env: Env, caller: Caller, id: string, error: unknown): Promise<unknown> {
  if (!(error instanceof MatrxError) || error.code !== "UNKNOWN_DEVICE") return error;
  const at = unwrap(await env.ACCOUNT.getByName(caller.account).removedAt(caller.grant, id));
  if (at === undefined) return error;
  return new MatrxError({ ...error.shape(), details: { removed: new Date(at).toISOString() } });
}

function tooLargePolicy(): MatrxError {
  return new MatrxError({
    code: "PAYLOAD_TOO_LARGE",
    message: `The policy is larger than ${LIMITS.policyBytes} bytes`,
    hint: "Allow folders instead of their contents",
    hop: "relay",
    details: { limit_bytes: LIMITS.policyBytes },
  });
}

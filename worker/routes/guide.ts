/** The guide's REST routes at the relay's root: the device is named by header, query, or is the only one. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { DEVICE_HEADER } from "@matrx/shared/tokens.ts";
import { Hono } from "hono";
import { authenticate, type Caller } from "../auth/caller.ts";
import type { Env } from "../env.ts";
import { ownDevice } from "../known-devices.ts";
import { unwrap } from "../outcome.ts";
import { invokeByGuide, listTools } from "./tools.ts";

export const guide = new Hono<{ Bindings: Env }>();

guide.get("/list", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  const id = await namedDevice(c.env, caller, c.req.raw);
  return listTools(await ownDevice(c.env, caller.account, id), caller, c.req.raw);
});

guide.post("/invoke", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  const id = await namedDevice(c.env, caller, c.req.raw);
  return invokeByGuide(await ownDevice(c.env, caller.account, id), id, caller, c.req.raw);
});

/** Never a guess: with several devices and none named, the choices are listed. Throws MatrxError. */
async function namedDevice(env: Env, caller: Caller, request: Request): Promise<string> {
  const named = request.headers.get(DEVICE_HEADER) ?? new URL(request.url).searchParams.get("device");
  if (named) return named;
  const devices = unwrap(await env.ACCOUNT.getByName(caller.account).listDevices(caller.grant));
  const [only] = devices;
  if (only && devices.length === 1) return only.id;
  throw new MatrxError({
    code: "INVALID_PARAMETERS",
    message: devices.length === 0 ? "You have no devices" : "Which device? You have several",
    hint:
      devices.length === 0
        ? "Add one with `matrx up`"
        : `Name one in the header ${DEVICE_HEADER} or with ?device=`,
    hop: "relay",
    details: { field: "device", choices: devices.map(({ id, name }) => ({ id, name })) },
  });
}

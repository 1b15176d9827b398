/** Which device a request for the caller API is about. */
import type { RecordingPort } from "@matrx/shared/caller/port.ts";
import { relayError } from "@matrx/shared/errors.ts";
import { DEVICE_HEADER } from "@matrx/shared/tokens.ts";
import type { Context } from "hono";
import { authenticate } from "../access/authenticate.ts";
import type { Caller } from "../auth/caller.ts";
import type { Env } from "../env.ts";
import { DevicePort } from "../port/device-port.ts";
import { reachableDevices, reachDevice } from "../reach.ts";
import type { RelayEnv } from "../route.ts";

/** The device in a request's path, or at the root the device that the request names otherwise. Throws MatrxError. */
export async function devicePort({ env, req }: Context<RelayEnv>): Promise<RecordingPort> {
  const caller = await authenticate(env, req.raw);
  const id = req.param("device") ?? (await namedDevice(env, caller, req.raw));
  const reached = await reachDevice(env, caller, id);
  return new DevicePort(env, reached.caller, id, reached.device);
}

/** Never guesses: with several devices and none named, the error lists the choices. Throws MatrxError. */
async function namedDevice(env: Env, caller: Caller, request: Request): Promise<string> {
  const named = request.headers.get(DEVICE_HEADER) ?? new URL(request.url).searchParams.get("device");
  if (named) return named;
  const devices = await reachableDevices(env, caller);
  const [only] = devices;
  if (only && devices.length === 1) return only.id;
  const choices = devices.map(({ id, name }) => ({ id, name }));
  const [message, hint] =
    devices.length === 0
      ? ["You have no devices", "Add one with `matrx up`"]
      : ["Which device? You have several", `Name one in the header ${DEVICE_HEADER} or with ?device=`];
  throw relayError("INVALID_PARAMETERS", message, { hint, details: { field: "device", choices } });
}

/** Refuses ids that the relay never issued before it touches a Device object: in workerd, touching one creates a file. */
import { type AccountId, type DeviceId, isDeviceId } from "@matrx/shared/ids.ts";
import type { Env } from "./env.ts";
import type { Device } from "./objects/device.ts";
import { directoryOf } from "./objects/directory.ts";
import { unknownDeviceError } from "./refusals.ts";

interface Found {
  account: AccountId;
  /** Cached: deriving it from the name costs a hash on each request. */
  object: DurableObjectId;
}

/** Devices found by this isolate. A device never changes its account, and a removed device's object refuses by itself. */
const found = new Map<DeviceId, Found>();
const FOUND_MAX = 10_000;

/** The object of a device, and the account that it belongs to. Throws MatrxError `UNKNOWN_DEVICE`. */
export async function knownDevice(
  env: Env,
  id: string,
): Promise<{ device: DurableObjectStub<Device>; account: AccountId }> {
  const { object, account } = await find(env, id);
  return { device: env.DEVICE.get(object), account };
}

/** The object of a device of this account; other accounts' devices do not exist for it. Throws MatrxError `UNKNOWN_DEVICE`. */
export async function ownDevice(
  env: Env,
  account: AccountId,
  id: string,
): Promise<DurableObjectStub<Device>> {
  const known = await find(env, id);
  if (known.account !== account) throw unknownDeviceError(id);
  return env.DEVICE.get(known.object);
}

async function find(env: Env, id: string): Promise<Found> {
  if (!isDeviceId(id)) throw unknownDeviceError(id);
  const known = found.get(id);
  if (known) return known;
  const account = await directoryOf(env.DIRECTORY, id).accountOf(id);
  if (!account) throw unknownDeviceError(id);
  if (found.size >= FOUND_MAX) found.clear();
  const device = { account, object: env.DEVICE.idFromName(id) };
  found.set(id, device);
  return device;
}

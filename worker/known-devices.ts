/** Refuses ids that the relay never issued before it touches a Device object: in workerd, touching one creates a file. */
import { type AccountId, type DeviceId, isDeviceId } from "@matrx/shared/ids.ts";
import type { Device } from "./device/device.ts";
import type { Env } from "./env.ts";
import { directoryOf } from "./objects/directory.ts";
import { unknownDeviceError } from "./refusals.ts";

export interface KnownDevice {
  account: AccountId;
  device: DurableObjectStub<Device>;
}

interface Found {
  account: AccountId;
  /** Cached: deriving it from the name costs a hash on each request. */
  object: DurableObjectId;
}

/** Devices found by this isolate. A device never changes its account, and a removed device's object refuses by itself. */
const found = new Map<DeviceId, Found>();
const FOUND_MAX = 10_000;

/** The object of a device, and the account that it belongs to. Throws MatrxError `UNKNOWN_DEVICE`. */
export async function knownDevice(env: Env, id: string): Promise<KnownDevice> {
  const known = isDeviceId(id) ? (seen(env, id) ?? (await lookUp(env, id))) : undefined;
  if (!known) throw unknownDeviceError(id);
  return known;
}

/** A device that this isolate has looked up before. */
export function seen(env: Env, id: DeviceId): KnownDevice | undefined {
  const known = found.get(id);
  return known && { account: known.account, device: env.DEVICE.get(known.object) };
}

/** Asks the directory, whatever this isolate has seen. */
export async function lookUp(env: Env, id: DeviceId): Promise<KnownDevice | undefined> {
  const account = await directoryOf(env.DIRECTORY, id).accountOf(id);
  if (!account) return undefined;
  if (found.size >= FOUND_MAX) found.clear();
  const object = env.DEVICE.idFromName(id);
  found.set(id, { account, object });
  return { account, device: env.DEVICE.get(object) };
}

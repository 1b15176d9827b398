/** Which devices a caller reaches: those of its account and, as a person, those that other accounts share with it. */
import { type AccountId, type DeviceId, isDeviceId } from "@matrx/shared/ids.ts";
import type { DeviceEntry } from "./account/devices.ts";
import type { Caller } from "./auth/caller.ts";
import type { Device } from "./device/device.ts";
import type { Env } from "./env.ts";
import { type KnownDevice, lookUp, seen } from "./known-devices.ts";
import { logWarning } from "./log.ts";
import { unwrap } from "./outcome.ts";
import { unknownDeviceError } from "./refusals.ts";

/** A device that a caller reaches. */
export interface Reached<Who extends Caller = Caller> {
  device: DurableObjectStub<Device>;
  /** The caller, or for a shared device the guest that it is there. */
  caller: Who;
  /** Who shares the device. */
  sharedBy?: string;
}

/** A device in a caller's list. */
export interface ReachableDevice extends Pick<DeviceEntry, "id" | "name"> {
  account: AccountId;
  sharedBy?: string;
}

/**
 * The device with this id. Another account's does not exist for a caller with whom it isn't shared: it gets the same
 * answer, after the same requests to the same objects, as for an id that was never issued. Throws MatrxError
 * `UNKNOWN_DEVICE`, or `UNAUTHENTICATED` if the caller's own grant ended.
 */
export async function reachDevice<Who extends Caller>(
  env: Env,
  caller: Who,
  id: string,
): Promise<Reached<Who>> {
  if (!isDeviceId(id)) throw unknownDeviceError(id);
  const known = seen(env, id);
  if (known?.account === caller.account) return { device: known.device, caller };
  const there = await lookUp(env, id);
  if (there?.account === caller.account) return { device: there.device, caller };
  const shared = await sharedDevice(env, caller, id, there);
  if (!shared) throw unknownDeviceError(id);
  return shared;
}

async function sharedDevice<Who extends Caller>(
  env: Env,
  caller: Who,
  id: DeviceId,
  known: KnownDevice | undefined,
): Promise<Reached<Who> | undefined> {
  // Asked for an id that nobody has, too.
  const account = env.ACCOUNT.getByName(caller.account);
  const session = unwrap(await account.visit(caller.grant, id, known?.account ?? null));
  if (!session || !known) return undefined;
  const share = await env.ACCOUNT.getByName(known.account).shareFor(caller.account, id);
  if (!share) return undefined;
  const guest = { account: caller.account, grant: caller.grant, until: session.until };
  return {
    device: known.device,
    caller: { ...caller, account: known.account, grant: share.grant, guest },
    sharedBy: share.by,
  };
}

/** All devices that a caller reaches, its own account's first. Throws MatrxError. */
export async function reachableDevices(env: Env, caller: Caller): Promise<ReachableDevice[]> {
  const { devices, givers } = unwrap(await env.ACCOUNT.getByName(caller.account).reachable(caller.grant));
  const own = devices.map(({ id, name }) => ({ id, name, account: caller.account }));
  const shared = await Promise.all(givers.map((giver) => sharedBy(env, giver, caller.account)));
  return [...own, ...shared.flat()];
}

async function sharedBy(env: Env, giver: AccountId, guest: AccountId): Promise<ReachableDevice[]> {
  try {
    const { by, devices } = await env.ACCOUNT.getByName(giver).sharedWith(guest);
    return devices.map(({ id, name }) => ({ id, name, account: giver, sharedBy: by }));
  } catch (error) {
    logWarning(`account ${giver} does not tell what it shares`, error);
    return [];
  }
}

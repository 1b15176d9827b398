/** Finds a device by its id, its name, or the beginning of one. */

import { pathOf, type RelayClient } from "@matrx/client/http/relay-client.ts";
import { type DeviceView, deviceListSchema, deviceViewSchema } from "@matrx/shared/api.ts";
import { nearestName } from "@matrx/shared/effects.ts";
import { callerError, type MatrxError } from "@matrx/shared/errors.ts";
import { isDeviceId } from "@matrx/shared/ids.ts";
import { chosenDevice, onlyDevice } from "./default-device.ts";

/** The device, or the default one if none is named. Throws MatrxError that lists the choices. */
export async function viewDevice(client: RelayClient, wanted: string | undefined): Promise<DeviceView> {
  const meant = wanted ?? chosenDevice(client);
  if (meant === undefined) return onlyDevice(client);
  if (isDeviceId(meant)) return client.get(pathOf("v1", "devices", meant), deviceViewSchema);
  const { devices } = await client.get("/v1/devices", deviceListSchema);
  return deviceNamed(devices, meant);
}

/** The device's id; does not ask the relay if that was given. Throws MatrxError. */
export async function findDevice(client: RelayClient, wanted: string | undefined): Promise<string> {
  const meant = wanted ?? chosenDevice(client);
  return meant !== undefined && isDeviceId(meant) ? meant : (await viewDevice(client, meant)).id;
}

/** Throws MatrxError unless exactly one device matches. */
export function deviceNamed(devices: readonly DeviceView[], wanted: string): DeviceView {
  const lower = wanted.toLowerCase();
  const exact = devices.filter(({ id, name }) => id === wanted || name.toLowerCase() === lower);
  const begins = devices.filter(
    ({ id, name }) => id.startsWith(lower) || name.toLowerCase().startsWith(lower),
  );
  const found = exact.length > 0 ? exact : begins;
  const [device] = found;
  if (device && found.length === 1) return device;
  throw found.length > 1 ? ambiguous(wanted, found) : unknown(wanted, devices);
}

function ambiguous(wanted: string, found: readonly DeviceView[]): MatrxError {
  return callerError("UNKNOWN_DEVICE", `${found.length} devices match "${wanted}"`, {
    hint: `Name one: ${found.map(({ id }) => id).join(", ")}`,
  });
}

function unknown(wanted: string, devices: readonly DeviceView[]): MatrxError {
  const near = nearestName(
    wanted,
    devices.map(({ name }) => name),
  );
  const names = devices.map(({ id }) => id).join(", ");
  return callerError("UNKNOWN_DEVICE", `You have no device "${wanted}"`, {
    hint: near
      ? `Did you mean "${near}"?`
      : names
        ? `You have: ${names}`
        : "Pair one first, on that machine: matrx up --relay https://your-relay",
  });
}

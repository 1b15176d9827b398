/** The default device: `MATRX_DEVICE`, else the choice of `matrx use`, else the caller's only one. */

import type { RelayClient } from "@matrx/client/http/relay-client.ts";
import { type DeviceView, deviceListSchema } from "@matrx/shared/api.ts";
import { callerError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { type Home, homeOf } from "../../config/app-dirs.ts";
import { readJsonFile, writePrivateFile } from "../../platform/private-file.ts";

const settingsSchema = z.object({
  /** Device ids, by the relay's address. */
  devices: z.record(z.string(), z.string()).default({}),
});

/** The device chosen by `MATRX_DEVICE` or `matrx use`, if any. */
export function chosenDevice({ relay }: RelayClient, home: Home = homeOf()): string | undefined {
  return process.env.MATRX_DEVICE || readJsonFile(home.cliFile, settingsSchema)?.devices[relay];
}

/** Stores the choice for this relay; undefined clears it. */
export function rememberDevice(
  { relay }: RelayClient,
  device: string | undefined,
  home: Home = homeOf(),
): void {
  const { [relay]: _, ...others } = readJsonFile(home.cliFile, settingsSchema)?.devices ?? {};
  const devices = device === undefined ? others : { ...others, [relay]: device };
  writePrivateFile(home.cliFile, `${JSON.stringify({ devices }, undefined, 2)}\n`);
}

/** The only device of the caller. Throws MatrxError that lists the choices. */
export async function onlyDevice(client: RelayClient): Promise<DeviceView> {
  const { devices } = await client.get("/v1/devices", deviceListSchema);
  const [only] = devices;
  if (only && devices.length === 1) return only;
  throw callerError(
    "UNKNOWN_DEVICE",
    only ? `You have ${devices.length} devices, and none was named` : "You have no devices yet",
    {
      hint: only
        ? `Name one, or choose a default: matrx use ${only.name}. You have: ${devices.map(({ name }) => name).join(", ")}`
        : `On the machine you want to reach: matrx up --relay ${client.relay}`,
    },
  );
}

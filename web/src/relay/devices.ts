/** The account's machines, kept in this browser: an app that starts offline shows them as they were. */

import type { DeviceView } from "@matrx/shared/api.ts";
import { useQuery } from "@tanstack/react-query";
import { lastKnown, remember } from "../app/last-known.ts";
import { useLocalDevice } from "../direct/local.ts";
import { api } from "./api.ts";
import type { Answer } from "./routes.ts";

type Devices = Answer<"GET /v1/devices">;

export const DEVICES_KEY = ["devices"];
/** How often their states are looked at while the page is seen, in milliseconds. */
const LOOK_EVERY = 10_000;

export function useDevices() {
  const last = lastKnown<Devices>("devices");
  return useQuery({
    queryKey: DEVICES_KEY,
    queryFn: readDevices,
    refetchInterval: LOOK_EVERY,
    ...(last && { initialData: last.value, initialDataUpdatedAt: last.at }),
  });
}

/** All machines that can be chosen: the account's, and this computer while somebody wants it directly. */
export function useMachines(): readonly DeviceView[] {
  const local = useLocalDevice();
  const devices = useDevices().data?.devices ?? [];
  return local ? [...devices, local] : devices;
}

/** One of them; undefined: none of this account's, or not read yet. */
export function useDevice(id: string): DeviceView | undefined {
  return useMachines().find((device) => device.id === id);
}

async function readDevices(): Promise<Devices> {
  const devices = await api("GET /v1/devices");
  remember("devices", devices);
  return devices;
}

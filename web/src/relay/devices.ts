/** The account's machines, kept in this browser: an app that starts offline shows them as they were. */
import { useQuery } from "@tanstack/react-query";
import { lastKnown, remember } from "../app/last-known.ts";
import { visibleLine } from "../ui/visible-text.ts";
import { api } from "./api.ts";
import type { Answer } from "./routes.ts";
import { fits } from "./shapes.ts";

type Devices = Answer<"GET /v1/devices">;

export const DEVICES_KEY = ["devices"];
/** How often their states are looked at while the page is seen, in milliseconds. */
const LOOK_EVERY = 10_000;

export function useDevices() {
  const last = lastKnown("devices", (kept) => fits("GET /v1/devices", kept));
  return useQuery({
    queryKey: DEVICES_KEY,
    queryFn: readDevices,
    refetchInterval: LOOK_EVERY,
    ...(last && { initialData: last.value, initialDataUpdatedAt: last.at }),
  });
}

/** One of them; undefined: none of this account's, or not read yet. */
export function useDevice(id: string) {
  return useDevices().data?.devices.find((device) => device.id === id);
}

async function readDevices(): Promise<Devices> {
  const { devices, unreadable } = await api("GET /v1/devices");
  const told: Devices = {
    devices: devices.map(withPlainWords),
    ...(unreadable && { unreadable: unreadable.map(withPlainWords) }),
  };
  remember("devices", told);
  return told;
}

/** What machines and people call them, on one line and with all that is hidden written out. */
function withPlainWords<T extends object>(device: T): T {
  return Object.fromEntries(Object.entries(device).map(([name, value]) => [name, plain(value)])) as T;
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === "string" ? visibleLine(value) : value;
}

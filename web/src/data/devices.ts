/** The account's machines, kept in this browser: an app that starts offline shows them as they were. */
import type { DeviceView } from "@matrx/shared/api.ts";
import { lastKnown, remember } from "../base/last-known.ts";
import { useLocalDevice } from "../direct/local.ts";
import { api } from "../relay/api.ts";
import { createReading } from "../relay/reading.ts";
import type { Answer } from "../relay/routes.ts";
import { fits } from "../relay/shapes.ts";
import { visibleLine } from "../ui/visible-text.ts";
import { tellApart } from "./told-apart.ts";

type Devices = Answer<"GET /v1/devices">;

/** How often their states are looked at while the page is seen, in milliseconds. */
const LOOK_EVERY = 10_000;
/** Who comes back to the page sees them as they are now, unless they are younger than this, in milliseconds. */
const FRESH = 5_000;

const devices = createReading(
  readDevices,
  lastKnown("devices", (kept) => fits("GET /v1/devices", kept)),
);

export const useDevices = devices.use;

/** Calls back each time that they were read. */
export const onDevices = devices.onChange;

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

/** Reads them anew. */
export function refreshDevices(): Promise<void> {
  return devices.now().refetch();
}

/** When the last reading began, in milliseconds. */
let begun = 0;

/** Reads them anew, unless that was begun just now. */
export async function refreshOldDevices(): Promise<void> {
  if (devices.now().error || Date.now() - begun > FRESH) await refreshDevices();
}

/** Whoever is signed in next has others. */
export function forgetDevices(): void {
  begun = 0;
  devices.put(undefined);
}

/** Reads them now, and again and again while the page is seen, until the returned function is called. */
export function followDevices(): () => void {
  const look = () => {
    if (document.visibilityState === "visible") void refreshDevices();
  };
  const lookIfOld = () => {
    if (Date.now() - devices.now().dataUpdatedAt > FRESH) look();
  };
  look();
  const timer = setInterval(look, LOOK_EVERY);
  document.addEventListener("visibilitychange", lookIfOld);
  return () => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", lookIfOld);
  };
}

async function readDevices(): Promise<Devices> {
  begun = Date.now();
  const { devices: read, unreadable = [] } = await api("GET /v1/devices");
  const named = tellApart([...read, ...unreadable]);
  const told = <T extends Pick<DeviceView, "id" | "name">>(device: T) => withPlainWords(named(device));
  const devices: Devices = { devices: read.map(told), unreadable: unreadable.map(told) };
  remember("devices", devices);
  return devices;
}

/** What machines and people call them, on one line and with all that is hidden written out. */
function withPlainWords<T extends object>(device: T): T {
  return Object.fromEntries(Object.entries(device).map(([name, value]) => [name, plain(value)])) as T;
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === "string" ? visibleLine(value) : value;
}

/** The account's machines, kept in this browser: an app that starts offline shows them as they were. */
import { lastKnown, remember } from "../app/last-known.ts";
import { api } from "./api.ts";
import { createReading } from "./reading.ts";
import type { Answer } from "./routes.ts";

type Devices = Answer<"GET /v1/devices">;

/** How often their states are looked at while the page is seen, in milliseconds. */
const LOOK_EVERY = 10_000;
/** Who comes back to the page sees them as they are now, unless they are younger than this, in milliseconds. */
const FRESH = 5_000;

const devices = createReading(readDevices, lastKnown<Devices>("devices"));

export const useDevices = devices.use;

/** One of them; undefined: none of this account's, or not read yet. */
export function useDevice(id: string) {
  return useDevices().data?.devices.find((device) => device.id === id);
}

/** Reads them anew. */
export function refreshDevices(): Promise<void> {
  return devices.now().refetch();
}

/** Whoever is signed in next has others. */
export function forgetDevices(): void {
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
  const read = await api("GET /v1/devices");
  remember("devices", read);
  return read;
}

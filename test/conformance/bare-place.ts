/** A bare device of a test: its id and token at the relay, its folder, and what it hears. */
import { onTestFinished } from "vitest";
import { createdDeviceSchema, type DeviceState, deviceViewSchema } from "../../shared/api.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import type { TestRelay } from "../helpers/relay.ts";
import { BareDevice, type BareDeviceOptions, type Message } from "./bare-device.mjs";

export interface Place {
  url: string;
  deviceId: string;
  token: string;
  root: string;
  /** The guide base of the device, for callers. */
  base: string;
}

/** A new device of the account, with the token that is shown once, and a folder to work in. */
export async function makePlace(relay: TestRelay): Promise<Place> {
  const session = await relay.signIn();
  const created = await relay.request(session, "POST /v1/devices", createdDeviceSchema, { name: "shed" });
  const { id } = created.device;
  const url = `${relay.url.replace(/^http/, "ws")}/v1/device/ws?device=${id}`;
  const base = `${relay.url}/v1/devices/${id}`;
  return { url, deviceId: id, token: created.token, root: temporaryFolder(), base };
}

/** A device that does not dial again, unless the options say so; it is gone when the test is over. */
export function newDevice(place: Place, options: Partial<BareDeviceOptions> = {}): BareDevice {
  const device = new BareDevice({ ...place, reconnect: false, ...options });
  device.on("fault", () => undefined);
  onTestFinished(() => device.vanish());
  return device;
}

export async function registered(
  place: Place,
  options: Partial<BareDeviceOptions> = {},
): Promise<BareDevice> {
  const device = newDevice(place, options).connect();
  await messageOf(device, "device_registered");
  return device;
}

/** The next message of this type. */
export function messageOf(device: BareDevice, type: string): Promise<Message> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no ${type}: ${JSON.stringify(device.received)}`)), 5000);
    const look = (message: Message) => {
      if (message.type !== type) return;
      clearTimeout(timer);
      device.off("message", look);
      resolve(message);
    };
    device.on("message", look);
  });
}

/** The code that its connection is closed with. */
export function closeOf(device: BareDevice): Promise<number> {
  return new Promise((resolve) => device.once("closed", (code) => resolve(code)));
}

export async function deviceState(relay: TestRelay, token: string, id: string): Promise<DeviceState> {
  return (await relay.request({ token }, `GET /v1/devices/${id}`, deviceViewSchema)).state;
}

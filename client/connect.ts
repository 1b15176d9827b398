/** Devices for programs: over a relay, or over a local server (`matrx serve`). */
import { Device, type DeviceOptions } from "./device.ts";
import { pathOf, RelayClient } from "./http/relay-client.ts";
import { HttpTransport } from "./http/transport.ts";
import { readFrame } from "./socket/read-frame.ts";
import { SocketTransport } from "./socket/transport.ts";
import { webSocketDial } from "./socket/web-socket.ts";

export interface DeviceAt extends DeviceOptions {
  /** Of the relay, such as `https://relay.example`, or of a local server, such as `http://localhost:8000`. */
  readonly url: string;
  /** The device's id; absent: `url` is a local server. */
  readonly device?: string | undefined;
  /** Or a function that gives the newest one, where it is replaced now and then. */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>) | undefined;
  /** A session to continue; absent: a new one. */
  readonly session?: string | undefined;
  /** For platforms without one, such as Node 20: that of the package `ws`. */
  readonly WebSocket?: typeof globalThis.WebSocket | undefined;
}

/** Calls, streams and events over WebSockets, which are opened when they are needed. Close it at the end. */
export function connectDevice(at: DeviceAt): Device {
  const { url, device, session, onApproval } = at;
  const client = clientOf(at);
  const base = device === undefined ? url : `${url}${pathOf("v1", "devices", device)}`;
  const token = () => client.token();
  const { follow } = new HttpTransport({ client, device });
  const dial = webSocketDial({ base, token, WebSocket: at.WebSocket });
  const transport = new SocketTransport({ dial, token, session, read: readFrame, follow });
  return new Device(transport, onApproval && { onApproval });
}

/** Calls by one request each, where WebSockets don't get through: without streams and events. */
export function connectByHttp(at: Omit<DeviceAt, "WebSocket">): Device {
  const { device, session, onApproval } = at;
  const client = clientOf(at);
  return new Device(new HttpTransport({ client, device, session }), onApproval && { onApproval });
}

function clientOf({ url, token }: Pick<DeviceAt, "url" | "token">): RelayClient {
  return new RelayClient({ relay: url, token: typeof token === "string" ? () => token : token });
}

/** Devices for programs: over a relay, or over a local server (`matrx serve`). */
import { MatrxError } from "@matrx/shared/errors.ts";
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
  /** The platform's own by default. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** For platforms without one, such as Node 20: that of the package `ws`. */
  readonly WebSocket?: (new (url: string, protocols: string[]) => WebSocket) | undefined;
}

/** Calls, streams and events over WebSockets, which are opened when they are needed. Close it at the end. */
export function connectDevice(at: DeviceAt): Device {
  const { url, device, session, onApproval } = at;
  const client = clientOf(at);
  const base = device === undefined ? url : `${url}${pathOf("v1", "devices", device)}`;
  const token = () => client.token();
  const { follow } = new HttpTransport({ client, device });
  const path = device === undefined ? "/ws" : `${pathOf("v1", "devices", device)}/ws`;
  const whyRefused = () => client.send("GET", path).then(() => undefined, refusalIn);
  const dial = webSocketDial({ base, token, whyRefused, WebSocket: at.WebSocket });
  const transport = new SocketTransport({ dial, token, session, read: readFrame, follow });
  return new Device(transport, onApproval && { onApproval });
}

/** Calls by one request each, where WebSockets don't get through: without streams and events. */
export function connectByHttp(at: Omit<DeviceAt, "WebSocket">): Device {
  const { device, session, onApproval } = at;
  const client = clientOf(at);
  return new Device(new HttpTransport({ client, device, session }), onApproval && { onApproval });
}

/** A server that would take the upgrade says only that this request was none. */
function refusalIn(error: unknown): MatrxError | undefined {
  if (!(error instanceof MatrxError) || error.hop === "caller") return undefined;
  return error.code === "INVALID_MESSAGE" ? undefined : error;
}

function clientOf({ url, token, fetch }: Pick<DeviceAt, "url" | "token" | "fetch">): RelayClient {
  return new RelayClient({
    ...{ relay: url, fetch },
    token: typeof token === "string" ? () => token : token,
  });
}

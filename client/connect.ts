/** Devices for programs: over a relay, or over a local server (`matrx serve`). */
import { callerError, MatrxError } from "@matrx/shared/errors.ts";
import { Device, type DeviceOptions } from "./device.ts";
import { readEvent } from "./http/read-event.ts";
import { pathOf, RelayClient } from "./http/relay-client.ts";
import { HttpTransport } from "./http/transport.ts";
import { readFrame } from "./socket/read-frame.ts";
import { SocketTransport } from "./socket/transport.ts";
import { type WebSocketConstructor, webSocketDial } from "./socket/web-socket.ts";

export interface DeviceAt extends DeviceOptions {
  /** Of the relay, such as `https://relay.example`, or of a local server, such as `http://localhost:8000`. */
  readonly url: string;
  /** The device's id; absent: `url` is a local server. */
  readonly device?: string | undefined;
  /** Or a function that gives the newest one, where it is replaced now and then. */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>) | undefined;
  /** A session to continue, by its id; absent: a new one. */
  readonly session?: string | undefined;
  /** The platform's own by default. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** For platforms without one, such as Node 20: that of the package `ws`. */
  readonly WebSocket?: WebSocketConstructor | undefined;
}

/**
 * Calls, streams and events over WebSockets, which are opened when they are needed. Close it at the end. Throws MatrxError:
 * the address or the id can't be one, or the platform has no WebSocket.
 */
export function connectDevice(at: DeviceAt): Device {
  const { device, session, onApproval } = at;
  const client = clientOf(at);
  const path = device === undefined ? "" : pathOf("v1", "devices", device);
  const token = () => client.token();
  const dial = webSocketDial({
    ...{ base: `${client.relay}${path}`, token, WebSocket: at.WebSocket },
    whyRefused: () => client.send("GET", `${path}/ws`).then(() => undefined, refusalIn),
  });
  const { host, follow } = new HttpTransport({ client, device, read: readEvent });
  const transport = new SocketTransport({ dial, host, token, session, read: readFrame, follow });
  return new Device(transport, { onApproval });
}

/**
 * Calls by one request each, where WebSockets don't get through: without streams and events. Throws MatrxError: the
 * address or the id can't be one.
 */
export function connectByHttp(at: Omit<DeviceAt, "WebSocket">): Device {
  const { device, session = "new", onApproval } = at;
  const client = clientOf(at);
  return new Device(new HttpTransport({ client, device, session, read: readEvent }), { onApproval });
}

/** A server that would take the upgrade says only that this request was none. */
function refusalIn(error: unknown): MatrxError | undefined {
  if (!(error instanceof MatrxError) || error.hop === "caller") return undefined;
  return error.code === "INVALID_MESSAGE" ? undefined : error;
}

function clientOf({ url, device, token, fetch }: Omit<DeviceAt, "WebSocket">): RelayClient {
  if (device === "")
    throw callerError("INVALID_PARAMETERS", "The device's id is empty", {
      hint: "Give the id that the relay lists, or leave it out for a local server",
    });
  return new RelayClient({
    ...{ relay: addressIn(url), fetch },
    ...(device === undefined && { host: "the local server" }),
    // One that was read from a file ends with a line break.
    token: async () => checkedToken((typeof token === "function" ? await token() : token)?.trim()),
  });
}

/** What can't be sent fails in each platform's own way. Throws MatrxError. */
function checkedToken(token: string | undefined): string | undefined {
  if (token === undefined || /^[\w.~+/=-]+$/.test(token)) return token;
  throw callerError("UNAUTHENTICATED", "The token is empty, or has characters that no token has", {
    hint: "Check where it is read from",
  });
}

/** Without slashes at its end. Throws MatrxError. */
function addressIn(url: string): string {
  if (URL.canParse(url)) {
    const { protocol, origin, pathname } = new URL(url);
    if (/^https?:$/.test(protocol)) return `${origin}${pathname.replace(/\/+$/, "")}`;
  }
  throw callerError("INVALID_PARAMETERS", `"${url}" is no address`, {
    hint: "Give it as in https://relay.example, or http://localhost:8000 for a local server",
  });
}

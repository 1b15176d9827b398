/** A device as commands call it: over a WebSocket, or by REST. */
import { type ApprovalEvent, Device } from "@matrx/client/device.ts";
import { readEvent } from "@matrx/client/http/read-event.ts";
import type { RelayClient } from "@matrx/client/http/relay-client.ts";
import { HttpTransport } from "@matrx/client/http/transport.ts";
import { readFrame } from "@matrx/client/socket/read-frame.ts";
import { SocketTransport } from "@matrx/client/socket/transport.ts";
import { noteWaiting } from "../output/waiting-note.ts";
import { dialTo } from "./caller-socket.ts";

/** `session`: one that is continued. */
export function deviceBySocket(client: RelayClient, device: string, session?: string): Device {
  const { follow } = new HttpTransport({ client, device, read: readEvent });
  const options = { dial: dialTo(client, device), read: readFrame, token: () => client.token(), session };
  return new Device(new SocketTransport({ ...options, follow }), { onApproval });
}

/** `session`: one that is continued, or `new`. */
export function deviceByRest(client: RelayClient, device: string, session?: string): Device {
  return new Device(new HttpTransport({ client, device, session, read: readEvent }), { onApproval });
}

function onApproval({ approval, state, expires }: ApprovalEvent): void {
  if (state === "pending") noteWaiting({ id: approval, expires });
}

/** A caller's WebSocket to one device. */
import type { IncomingMessage } from "node:http";
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { errorInProblem } from "@matrx/shared/problem.ts";
import { WebSocket } from "ws";
import { callerSocketUrl } from "../../config/relay-url.ts";
import { openWebSocket } from "../../network/web-socket.ts";
import { parsedJson } from "./json.ts";
import type { RelayClient } from "./relay-client.ts";

/** In milliseconds. */
const PING_EVERY = 20_000;
const HANDSHAKE_WITHIN = 15_000;
const CLOSE_WITHIN = 1000;

export const PING = { action: "ping" };

export interface Dial {
  readonly device: string;
  /** Absent for a new one. */
  readonly session?: string | undefined;
  readonly subprotocols: readonly string[];
  /** Called if the relay refuses the upgrade. */
  readonly onRefused: (refusal: MatrxError) => void;
}

/** A socket that is kept alive by pings. */
export function dialCaller(client: RelayClient, dial: Dial): WebSocket {
  const socket = dialSilently(client, dial);
  const pinging = setInterval(() => sendIfOpen(socket, PING), PING_EVERY);
  socket.once("close", () => clearInterval(pinging));
  return socket;
}

/** A socket whose user pings it. */
export function dialSilently(
  client: RelayClient,
  { device, session, subprotocols, onRefused }: Dial,
): WebSocket {
  const socket = openWebSocket(callerSocketUrl(client.relay, device, session), subprotocols, {
    headers: { Authorization: `Bearer ${client.token}` },
    handshakeTimeout: HANDSHAKE_WITHIN,
    maxPayload: LIMITS.platformFrameBytes,
  });
  socket.once("unexpected-response", (_request, response) => {
    void refusalOf(response).then((said) => onRefused(client.refusal(said)));
  });
  return socket;
}

export function sendIfOpen(socket: WebSocket, frame: object): void {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
}

/** Does not wait for a relay that does not close its end. */
export function hangUp(socket: WebSocket): void {
  socket.close();
  setTimeout(() => socket.terminate(), CLOSE_WITHIN).unref();
}

async function refusalOf(response: IncomingMessage): Promise<MatrxError> {
  let text = "";
  try {
    for await (const chunk of response) text += chunk;
  } catch {
    // The status says enough.
  }
  const said = errorInProblem(parsedJson(text));
  if (said) return said;
  return relayError(
    response.statusCode === 401 ? "UNAUTHENTICATED" : "UNAVAILABLE",
    `The relay answered ${response.statusCode} to the WebSocket`,
    {
      hint: "Check the address, and that any proxy in front allows WebSockets (matrx call --rest works without them)",
    },
  );
}

/** The command line's WebSocket to one device. */
import type { IncomingMessage } from "node:http";
import type { RelayClient } from "@matrx/client/http/relay-client.ts";
import type { Dial } from "@matrx/client/socket/socket.ts";
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { errorInProblem } from "@matrx/shared/problem.ts";
import { SUBPROTOCOL } from "@matrx/shared/tokens.ts";
import { callerSocketUrl } from "../../config/relay-url.ts";
import { openWebSocket } from "../../network/web-socket.ts";
import { lostBecause } from "../../relay/close-reasons.ts";
import { PacedSocket } from "../../relay/paced-socket.ts";
import { parsedJson } from "./json.ts";

/** In milliseconds. */
const HANDSHAKE_WITHIN = 15_000;
const CLOSE_WITHIN = 1000;

/** Dials the device in the name of the client's token. */
export function dialTo(client: RelayClient, device: string): Dial {
  return async (session, { onOpen, onMessage, onRefused, onClose }) => {
    const token = await client.token();
    const socket = openWebSocket(callerSocketUrl(client.relay, device, session), [SUBPROTOCOL.binary], {
      ...(token !== undefined && { headers: { Authorization: `Bearer ${token}` } }),
      handshakeTimeout: HANDSHAKE_WITHIN,
      maxPayload: LIMITS.platformFrameBytes,
    });
    const paced = new PacedSocket(socket);
    let why: string | undefined;
    socket.once("unexpected-response", (_request, response) => {
      void refusalOf(response).then((said) => onRefused(client.refusal(said)));
    });
    socket.once("open", onOpen);
    socket.on("message", (data: Buffer<ArrayBuffer>, isBinary) =>
      onMessage(isBinary ? data : data.toString()),
    );
    socket.on("error", (error) => {
      why ??= lostBecause(error);
    });
    socket.on("close", (code, reason) => onClose(why ?? (reason.toString() || `closed (${code})`)));
    return {
      send: (data) => {
        if (typeof data !== "string") paced.send(data);
        else if (paced.isOpen) socket.send(data);
      },
      ready: () => paced.ready(),
      leftBytes: () => paced.sentBytes - socket.bufferedAmount,
      close: () => {
        socket.close();
        // A relay that does not close its end is not waited for.
        setTimeout(() => socket.terminate(), CLOSE_WITHIN).unref();
      },
      cut: () => socket.terminate(),
    };
  };
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

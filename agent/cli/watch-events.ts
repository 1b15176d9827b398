/** Hears the events of a device as they come, over a connection that is made again when it breaks. */
import { setTimeout as sleep } from "node:timers/promises";
import { type EventView, eventViewSchema } from "@matrx/shared/api.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { SUBPROTOCOL } from "@matrx/shared/tokens.ts";
import { WebSocket } from "ws";
import * as z from "zod";
import { callerSocketUrl } from "../relay-url.ts";
import { answerSchema } from "./answer-schema.ts";
import type { RelayClient } from "./relay-client.ts";
import { refusalOf } from "./socket-refusal.ts";

const PING_EVERY = 20_000;
const AGAIN_AFTER = 2000;

const eventFrameSchema = z.object({ type: z.literal("event"), event: eventViewSchema });

export interface Watch {
  readonly device: string;
  /** Id of the last event that is known. */
  after: string | undefined;
  readonly stop: AbortSignal;
  readonly show: (event: EventView) => void;
  /** The connection broke, and is made again. */
  readonly onBreak: () => void;
}

/** Runs until `stop`. Throws MatrxError when the relay refuses. */
export async function watchEvents(client: RelayClient, watch: Watch): Promise<void> {
  const { stop } = watch;
  while (!stop.aborted) {
    await hear(client, watch);
    if (stop.aborted) return;
    watch.onBreak();
    await sleep(AGAIN_AFTER, undefined, { signal: stop }).catch(() => undefined);
  }
}

/** One connection. Resolves when it ends. Throws MatrxError when it is refused. */
async function hear(client: RelayClient, watch: Watch): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = new WebSocket(callerSocketUrl(client.relay, watch.device, undefined), [SUBPROTOCOL.v1], {
    headers: { Authorization: `Bearer ${client.token}` },
    perMessageDeflate: false,
    handshakeTimeout: 15_000,
  });
  const send = (frame: object) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
  };
  socket.on("open", () => send({ action: "events", ...(watch.after && { after: watch.after }) }));
  socket.on("message", (data) => {
    const frame: unknown = JSON.parse(data.toString());
    const refused = answerSchema.safeParse(frame).data;
    if (refused) return reject(refusal(refused));
    const told = eventFrameSchema.safeParse(frame).data;
    if (!told) return;
    watch.after = told.event.id;
    watch.show(told.event);
  });
  socket.on("unexpected-response", (_request, response) => void refusalOf(response).then(reject));
  socket.on("error", () => undefined);
  socket.on("close", () => resolve());
  const pinging = setInterval(() => send({ action: "ping" }), PING_EVERY);
  const close = () => socket.terminate();
  watch.stop.addEventListener("abort", close, { once: true });
  try {
    await promise;
  } finally {
    clearInterval(pinging);
    watch.stop.removeEventListener("abort", close);
    socket.terminate();
  }
}

function refusal({
  code = "INTERNAL",
  output,
  hint,
  hop = "relay",
}: z.infer<typeof answerSchema>): MatrxError {
  return new MatrxError({ code, message: output, hint, hop });
}

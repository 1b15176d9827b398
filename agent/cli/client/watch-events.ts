/** Follows the events of a device; reconnects when the connection breaks. */
import { setTimeout as sleep } from "node:timers/promises";
import type { EventView } from "@matrx/shared/api.ts";
import { type ErrorFrame, toCallerSchema } from "@matrx/shared/caller/to-caller.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { SUBPROTOCOL } from "@matrx/shared/tokens.ts";
import { dialCaller, hangUp, sendIfOpen } from "./caller-socket.ts";
import { parsedJson } from "./json.ts";
import type { RelayClient } from "./relay-client.ts";

/** In milliseconds. */
const AGAIN_AFTER = 2000;

export interface Watch {
  readonly device: string;
  /** Id of the last known event. */
  after: string | undefined;
  readonly stop: AbortSignal;
  readonly show: (event: EventView) => void;
  /** Called whenever the connection is established. */
  readonly onConnect: () => void;
  /** Called once when the connection breaks, before reconnecting. */
  readonly onBreak: () => void;
}

/** Runs until `stop`. Throws MatrxError if the relay refuses. */
export async function watchEvents(client: RelayClient, watch: Watch): Promise<void> {
  const { stop } = watch;
  let isKnownBroken = false;
  const onConnect = () => {
    isKnownBroken = false;
    watch.onConnect();
  };
  while (!stop.aborted) {
    await watchOnce(client, watch, onConnect);
    if (stop.aborted) return;
    if (!isKnownBroken) watch.onBreak();
    isKnownBroken = true;
    await sleep(AGAIN_AFTER, undefined, { signal: stop }).catch(() => undefined);
  }
}

/** One connection. Resolves when it ends. Throws MatrxError if it is refused. */
async function watchOnce(client: RelayClient, watch: Watch, onConnect: () => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = dialCaller(client, {
    device: watch.device,
    subprotocols: [SUBPROTOCOL.v1],
    onRefused: reject,
  });
  socket.on("open", () => {
    sendIfOpen(socket, { action: "events", ...(watch.after && { after: watch.after }) });
    onConnect();
  });
  socket.on("message", (data) => {
    const frame = toCallerSchema.safeParse(parsedJson(data.toString())).data;
    if (frame?.type === "error") reject(refusal(frame));
    if (frame?.type !== "event") return;
    watch.after = frame.event.id;
    watch.show(frame.event);
  });
  // A close event follows.
  socket.on("error", () => undefined);
  socket.on("close", () => resolve());
  const stop = () => resolve();
  watch.stop.addEventListener("abort", stop, { once: true });
  try {
    await promise;
  } finally {
    watch.stop.removeEventListener("abort", stop);
    hangUp(socket);
  }
}

function refusal({ code, output, hint, hop }: ErrorFrame): MatrxError {
  return new MatrxError({ code, message: output, hint, hop });
}

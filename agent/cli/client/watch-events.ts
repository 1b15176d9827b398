/** Hears the events of a device as they come, over a connection that is made again when it breaks. */
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
  /** Id of the last event that is known. */
  after: string | undefined;
  readonly stop: AbortSignal;
  readonly show: (event: EventView) => void;
  /** The connection stands: at first, and again after each break. */
  readonly onConnect: () => void;
  /** The connection broke, and is tried until it stands. Told once, however often it is tried. */
  readonly onBreak: () => void;
}

/** Runs until `stop`. Throws MatrxError when the relay refuses. */
export async function watchEvents(client: RelayClient, watch: Watch): Promise<void> {
  const { stop } = watch;
  let isKnownBroken = false;
  const onConnect = () => {
    isKnownBroken = false;
    watch.onConnect();
  };
  while (!stop.aborted) {
    await hear(client, watch, onConnect);
    if (stop.aborted) return;
    if (!isKnownBroken) watch.onBreak();
    isKnownBroken = true;
    await sleep(AGAIN_AFTER, undefined, { signal: stop }).catch(() => undefined);
  }
}

/** One connection. Resolves when it ends. Throws MatrxError when it is refused. */
async function hear(client: RelayClient, watch: Watch, onConnect: () => void): Promise<void> {
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
  // Its close follows, and is heard.
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

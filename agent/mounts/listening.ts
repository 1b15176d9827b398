/** News of a server of the 2026 era come on a stream, which the server may end; the client library opens one only. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/client";

export interface ListenTimes {
  /** Pause before the stream is opened again: the first one, doubled each time that this fails, up to the longest. */
  readonly firstPause: number;
  readonly longestPause: number;
}

export const LISTEN_TIMES: ListenTimes = { firstPause: 1000, longestPause: 30_000 };

/** Listens for changed tools until the signal aborts. `onAgain` is told after each gap, in which news may be lost. */
export async function keepListening(
  client: Client,
  onAgain: () => void,
  signal: AbortSignal,
  { firstPause, longestPause }: ListenTimes = LISTEN_TIMES,
): Promise<void> {
  if (client.getProtocolEra() !== "modern" || !client.getServerCapabilities()?.tools?.listChanged) return;
  let stream = client.autoOpenedSubscription;
  let pause = firstPause;
  while (!signal.aborted) {
    await stream?.closed;
    await sleep(pause, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    stream = await client.listen({ toolsListChanged: true }).catch(() => undefined);
    pause = stream ? firstPause : Math.min(2 * pause, longestPause);
    if (stream) onAgain();
  }
}

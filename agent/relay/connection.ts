/** Keeps this device connected: dials, and dials again for ever, until it is told to stop or the relay's checked refusal is final. */
import { setTimeout as sleep } from "node:timers/promises";
import type { MatrxError } from "@matrx/shared/errors.ts";
import { HEALTHY_AFTER, retryDelay, seldomDelay } from "./backoff.ts";
import { Link, type LinkOptions } from "./link.ts";

export interface ConnectionOptions extends LinkOptions {
  /** Milliseconds until the next try; for tests. */
  readonly retryDelay?: typeof retryDelay | undefined;
  /** The same, while the relay does not know the device. */
  readonly seldomDelay?: typeof seldomDelay | undefined;
  readonly healthyAfterMs?: number | undefined;
}

/** Runs until `signal` (resolves undefined) or until the relay's refusal is final (resolves with it). */
export async function keepConnected(
  options: ConnectionOptions,
  signal: AbortSignal,
): Promise<MatrxError | undefined> {
  const { log, onState } = options;
  const delayOf = options.retryDelay ?? retryDelay;
  const healthyAfter = options.healthyAfterMs ?? HEALTHY_AFTER;
  let tries = 0;
  let lostAt: number | undefined;
  for (;;) {
    onState(lostAt === undefined ? "CONNECTING" : "RECONNECTING");
    const end = await Link.run(options, signal);
    onState("DISCONNECTED");
    if (end.kind === "stopped") return undefined;
    if (end.kind === "refused") return end.error;
    if (end.kind === "lost" && end.registeredMs >= healthyAfter) {
      tries = 0;
      lostAt = undefined;
    }
    lostAt ??= performance.now();
    const delay =
      end.kind === "unknown"
        ? (options.seldomDelay ?? seldomDelay)()
        : delayOf(tries, performance.now() - lostAt);
    tries++;
    log.warn({ again_in_ms: Math.round(delay) }, end.why);
    if (!(await slept(delay, signal))) return undefined;
  }
}

async function slept(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}

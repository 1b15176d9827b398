/** Keeps this device connected: reconnects for ever, until it is stopped or the relay refuses it for good. */
import { setTimeout as sleep } from "node:timers/promises";
import type { MatrxError } from "@matrx/shared/errors.ts";
import { Link, type LinkOptions } from "./link.ts";

/** When to reconnect: at once, then often for a minute, then seldom. */
const SECOND = 1000;
const FIRST_WITHIN = 1 * SECOND;
const OFTEN = 2 * SECOND;
const OFTEN_FOR = 60 * SECOND;
const CAP = 15 * SECOND;
const GROWTH = 1.5;

/** How often, roughly, to retry a relay that does not know the device, in milliseconds. */
const SELDOM = 5 * 60 * SECOND;

/** A connection that lasted this long resets the backoff, in milliseconds. */
const HEALTHY_AFTER = 60 * SECOND;

/**
 * Milliseconds until the next attempt.
 * @param tries failed attempts since the loss
 * @param sinceMs time since the loss
 */
export function retryDelay(tries: number, sinceMs: number, random: () => number = Math.random): number {
  if (tries === 0) return random() * FIRST_WITHIN;
  const jitter = 0.75 + random() * 0.5;
  if (sinceMs < OFTEN_FOR) return OFTEN * jitter;
  const steps = Math.max(1, tries - OFTEN_FOR / OFTEN + 1);
  return Math.min(CAP, OFTEN * GROWTH ** steps * jitter);
}

/** Milliseconds until the next attempt at a relay that does not know the device: each one costs it a request. */
export function seldomDelay(random: () => number = Math.random): number {
  return SELDOM * (0.75 + random() * 0.5);
}

export interface ConnectionOptions extends LinkOptions {
  /** Milliseconds until the next attempt; for tests. */
  readonly retryDelay?: typeof retryDelay | undefined;
  /** The same, while the relay does not know the device. */
  readonly seldomDelay?: typeof seldomDelay | undefined;
  readonly healthyAfterMs?: number | undefined;
}

/** Runs until `signal` aborts (resolves with undefined) or the relay's refusal is final (resolves with it). */
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

/** When to dial again: at once, then often for a minute, then seldom. */

const SECOND = 1000;
const FIRST_WITHIN = 1 * SECOND;
const OFTEN = 2 * SECOND;
const OFTEN_FOR = 60 * SECOND;
const CAP = 15 * SECOND;
const GROWTH = 1.5;

/** A relay that does not know the device is asked again about this often, in milliseconds. */
const SELDOM = 5 * 60 * SECOND;

/** A connection that held this long, in milliseconds, makes the next loss a first one again. */
export const HEALTHY_AFTER = 60 * SECOND;

/**
 * Milliseconds until the next try.
 * @param tries tries that failed since the loss
 * @param sinceMs how long ago the loss was
 */
export function retryDelay(tries: number, sinceMs: number, random: () => number = Math.random): number {
  if (tries === 0) return random() * FIRST_WITHIN;
  const jitter = 0.75 + random() * 0.5;
  if (sinceMs < OFTEN_FOR) return OFTEN * jitter;
  const steps = Math.max(1, tries - OFTEN_FOR / OFTEN + 1);
  return Math.min(CAP, OFTEN * GROWTH ** steps * jitter);
}

/** Milliseconds until a relay that does not know the device is asked again: each try costs it a request. */
export function seldomDelay(random: () => number = Math.random): number {
  return SELDOM * (0.75 + random() * 0.5);
}

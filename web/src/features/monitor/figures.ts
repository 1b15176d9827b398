/** What is worked out from a sample. */
import type { Interface, Room, Sample } from "./sample.ts";

/** From 0 to 1; undefined: not known. */
export function partOf({ used, total }: Room): number | undefined {
  if (used === undefined || !total) return undefined;
  return Math.min(Math.max(used / total, 0), 1);
}

/** In bytes per second, over all interfaces that lead out of the machine. */
export function received({ network }: Sample): number {
  return sumOf(network, (one) => one.received);
}

/** The same that was sent. */
export function sent({ network }: Sample): number {
  return sumOf(network, (one) => one.sent);
}

function sumOf(network: readonly Interface[], of: (one: Interface) => number): number {
  return network.filter((one) => !one.isLoopback).reduce((sum, one) => sum + of(one), 0);
}

/** The long mode, `npm run test:long`: what takes minutes, because it waits, or because it tries many times. */
import { needsRare } from "./parts.ts";

export const LONG = process.env.MODE === "long";

/** Options of a test whose short form is another one. */
export const LONG_ONLY = needsRare(LONG, "takes minutes: npm run test:long");

/** How often a property is tried: a quarter as often in `npm test`, which tries others at each run. */
export function tries(full: number): number {
  return LONG ? full : Math.ceil(full / 4);
}

/** All of these cases; in `npm test` the first and the last. */
export function cases<Case>(all: readonly Case[]): readonly Case[] {
  return LONG ? all : all.filter((_, at) => at === 0 || at === all.length - 1);
}

/** What is at a path, looked up synchronously. */
import { type BigIntStats, lstatSync } from "node:fs";

/** Of the entry itself, and not where it leads. Undefined: nothing is there, or this program may not look. */
export function entryStat(entry: string | Buffer): BigIntStats | undefined {
  try {
    return lstatSync(entry, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Ports of a device that calls may reach, as policies name them: a number, or a range such as "8000-8099". */
import * as z from "zod";

/** A TCP port. */
export const portSchema = z.int().min(1).max(65_535);

const rangeSchema = z.string().refine(isRange, 'must be a range of ports such as "8000-8099"');

export const portEntrySchema = z.union([portSchema, rangeSchema]);
export type PortEntry = z.infer<typeof portEntrySchema>;

/** The entry that a port fits; undefined: none. */
export function portEntryFor(entries: readonly PortEntry[], port: number): PortEntry | undefined {
  return entries.find((entry) => {
    if (typeof entry === "number") return entry === port;
    const [from = 0, to = 0] = entry.split("-").map(Number);
    return from <= port && port <= to;
  });
}

function isRange(text: string): boolean {
  if (!/^\d{1,5}-\d{1,5}$/.test(text)) return false;
  const [from, to] = text.split("-").map(Number);
  return [from, to].every((end) => portSchema.safeParse(end).success) && Number(from) <= Number(to);
}

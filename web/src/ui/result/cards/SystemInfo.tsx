/** How long a machine runs, and what is free of its memory and disk, in units for people. */
import { Facts } from "../../Facts.tsx";
import { duration, size } from "../../format.ts";
import type { Card, Metadata } from "../cards.ts";

export const card: Card = ({ uptime_seconds: uptime, ...parts }) => {
  const [memory, disk] = [parts.memory, parts.disk].map(recordIn);
  const facts = [
    ["Memory", freeOf(memory?.available_bytes, memory?.total_bytes)],
    ["Disk", typeof disk?.free_bytes === "number" ? `${size(disk.free_bytes)} free` : undefined],
    ["Up for", typeof uptime === "number" ? duration(uptime * 1000) : undefined],
  ] as const;
  return facts.every(([, value]) => value === undefined) ? undefined : <Facts facts={facts} />;
};

function recordIn(value: unknown): Metadata {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function freeOf(free: unknown, total: unknown): string | undefined {
  if (typeof free !== "number" || typeof total !== "number") return undefined;
  return `${size(free)} free of ${size(total)}`;
}

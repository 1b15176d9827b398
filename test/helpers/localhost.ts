/** The addresses of this machine itself. */
import { networkInterfaces } from "node:os";

const own = new Set(Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address)));

/** `127.0.0.1`, and `::1` where the machine has IPv6; without it the product, and so its tests, do with the one. */
export const LOCALHOST: readonly string[] = ["127.0.0.1", "::1"].filter((address) => own.has(address));

if (LOCALHOST.length < 2)
  console.warn("Skipped: what a second loopback address (::1) is for; this machine has none");

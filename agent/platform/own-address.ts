/** Addresses that lead to this machine itself. */
import { BlockList, isIPv4 } from "node:net";
import { networkInterfaces } from "node:os";

/** An IPv6 address that stands for one of IPv4 is checked as that. */
const LOCAL = new BlockList();
LOCAL.addSubnet("0.0.0.0", 8, "ipv4");
LOCAL.addSubnet("127.0.0.0", 8, "ipv4");
LOCAL.addSubnet("::", 127, "ipv6");

/** Loopback, the unspecified address, and those of its own interfaces. */
export function isOwnAddress(address: string): boolean {
  const own = new BlockList();
  for (const one of Object.values(networkInterfaces()).flatMap((list) => list ?? []))
    own.addAddress(one.address, familyOf(one.address));
  return [LOCAL, own].some((list) => list.check(address, familyOf(address)));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv4(address) ? "ipv4" : "ipv6";
}

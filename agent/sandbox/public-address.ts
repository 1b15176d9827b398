/** Addresses outside of this machine and its own network: a domain may resolve to any. */
import { BlockList, isIPv4 } from "node:net";
import { isOwnAddress } from "../platform/own-address.ts";

const NOT_PUBLIC = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
  ...["192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"],
  ...["224.0.0.0/4", "240.0.0.0/4"],
  ...["::/127", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/32", "2001:db8::/32", "2002::/16"],
  ...["fc00::/7", "fe80::/10", "ff00::/8"],
];

const blocked = new BlockList();
for (const range of NOT_PUBLIC) {
  const [network = "", bits] = range.split("/");
  blocked.addSubnet(network, Number(bits), familyOf(network));
}

export function isPublicAddress(address: string): boolean {
  if (blocked.check(address, familyOf(address))) return false;
  return !isOwnAddress(address);
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv4(address) ? "ipv4" : "ipv6";
}

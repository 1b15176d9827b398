/** How the relays without checks route: a caller's number, of one length, in front of each frame to the device and back. */

export const ROUTE_LENGTH = 6;

export function routeOf(caller: number): string {
  return caller.toString().padStart(ROUTE_LENGTH, "0");
}

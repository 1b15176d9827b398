/** One request to the Worker. */
import { exports } from "cloudflare:workers";

export const ORIGIN = "http://relay.test";

export function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return exports.default.fetch(new Request(`${ORIGIN}${path}`, init));
}

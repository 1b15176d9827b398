/**
 * Our relay as it is built, but what stands behind `/mcp` is the fixture of the conformance suite: routes, host guard,
 * credentials, sessions and both eras are our own. Plain JavaScript, for it imports the bundle.
 */
import { DurableObject } from "cloudflare:workers";
import relay from "../../../dist/worker/index.js";
import { McpEndpoint } from "../../../shared/mcp/endpoint.ts";
import { fixtureServer } from "./fixture/server.ts";

// biome-ignore lint/performance/noBarrelFile: the runtime finds the object classes here
export * from "../../../dist/worker/index.js";

export class Mcp extends DurableObject {
  #endpoint = new McpEndpoint(() => fixtureServer(() => this.#endpoint.toolsChanged()));

  fetch(request) {
    return this.#endpoint.fetch(request);
  }
}

export default relay;

/** The MCP endpoints of an object, one for each of its callers. */

import { familiesOf } from "@matrx/shared/caller/request.ts";
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import { ChosenTools } from "@matrx/shared/mcp/enable-tools.ts";
import { McpEndpoint } from "@matrx/shared/mcp/endpoint.ts";
import type { McpHost } from "@matrx/shared/mcp/host.ts";
import { mcpServer } from "@matrx/shared/mcp/server.ts";
import { type Rate, TokenBucket } from "@matrx/shared/rate-limit.ts";
import { retryIn } from "@matrx/shared/retry.ts";
import type { Family } from "@matrx/shared/tool-families.ts";
import type { Caller } from "../auth/caller.ts";
import { logWarning } from "../log.ts";
import { RELAY_VERSION } from "../version.ts";
import type { EnabledFamilies } from "./enabled-families.ts";

/** Callers whose endpoints are kept; who comes back after that gets a new one. */
const MOST_CALLERS = 256;

/** Addresses of one caller with other families; the one used longest ago is closed for the next. */
const MOST_CHOICES = 4;

/** Messages of one caller besides those that its calls are counted by: many at once, then 50 a second. */
const REQUESTS: Rate = { burst: 200, everyMs: 20 };

interface Kept {
  readonly grants: readonly GrantId[];
  /** By the families that its address names. */
  readonly endpoints: Map<string, McpEndpoint>;
  /** All of them together are one caller. */
  readonly requests: TokenBucket;
}

/** What callers' clients are served, and who wants to know that one listens. */
export interface Serving {
  /** What their models enabled. */
  readonly enabled: EnabledFamilies;
  hostFor(caller: Caller, origin: string, chosen: ChosenTools): McpHost;
  onListen?(caller: Caller, ms: number): Promise<void>;
}

export class McpEndpoints {
  readonly #serving: Serving;
  readonly #kept = new Map<string, Kept>();

  constructor(serving: Serving) {
    this.#serving = serving;
  }

  /** The caller must have been admitted. Throws MatrxError. */
  fetch(request: Request, caller: Caller): Promise<Response> {
    const now = Date.now();
    const { origin } = new URL(request.url);
    const families = familiesOf(request);
    const key = [origin, caller.account, caller.grant, caller.guest?.grant].join(" ");
    const kept = this.#kept.get(key) ?? this.#make(caller);
    // The one used last comes last.
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    if (this.#kept.size > MOST_CALLERS) this.#kept.delete(this.#kept.keys().next().value ?? "");
    takeOne(kept.requests, now);
    const choice = families?.join() ?? "";
    const endpoint = kept.endpoints.get(choice) ?? this.#endpoint(caller, origin, families, kept);
    kept.endpoints.delete(choice);
    kept.endpoints.set(choice, endpoint);
    for (const [former, other] of [...kept.endpoints].slice(0, -MOST_CHOICES)) {
      kept.endpoints.delete(former);
      close(other);
    }
    return endpoint.fetch(request, caller.expires);
  }

  toolsChanged(): void {
    for (const { endpoints } of this.#kept.values())
      for (const endpoint of endpoints.values()) endpoint.toolsChanged();
  }

  /** A grant, or a guest's session, has ended. */
  revoke(grant: GrantId): void {
    for (const [key, kept] of [...this.#kept]) if (kept.grants.includes(grant)) this.#end(key, kept);
    this.#serving.enabled.forget(grant);
  }

  /** Ends everything at once. */
  close(): void {
    for (const [key, kept] of [...this.#kept]) this.#end(key, kept);
  }

  #end(key: string, { endpoints }: Kept): void {
    this.#kept.delete(key);
    for (const endpoint of endpoints.values()) close(endpoint);
  }

  #make(caller: Caller): Kept {
    const grants = caller.guest ? [caller.grant, caller.guest.grant] : [caller.grant];
    return { grants, endpoints: new Map(), requests: new TokenBucket(REQUESTS, Date.now()) };
  }

  #endpoint(
    caller: Caller,
    origin: string,
    families: readonly Family[] | undefined,
    { grants, requests }: Kept,
  ): McpEndpoint {
    const onError = (error: unknown) => logWarning("an MCP request failed", error);
    const chosen = new ChosenTools({
      families,
      enabled: this.#serving.enabled.at(grants, families?.join() ?? ""),
      onChange: () => endpoint.toolsChanged(),
    });
    const host = this.#serving.hostFor(caller, origin, chosen);
    const onListen = async (ms: number) => await this.#serving.onListen?.(caller, ms);
    const makeServer = (session: string) => mcpServer(host, { version: RELAY_VERSION, session, onError });
    // The first message was counted as the request.
    const onBatch = (messages: number) => {
      for (let more = 1; more < messages; more++) takeOne(requests, Date.now());
    };
    const endpoint = new McpEndpoint(makeServer, { onListen, onBatch });
    return endpoint;
  }
}

function close(endpoint: McpEndpoint): void {
  endpoint.close().catch((error: unknown) => logWarning("an MCP endpoint did not close", error));
}

function takeOne(requests: TokenBucket, now: number): void {
  if (!requests.take(now)) throw tooManyRequests(requests.promise(now));
}

function tooManyRequests(waitMs: number): MatrxError {
  return relayError("RATE_LIMITED", "Too many MCP requests at once", retryIn(waitMs));
}

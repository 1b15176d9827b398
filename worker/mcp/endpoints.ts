/** The MCP endpoints of an object, one for each of its callers. */

import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import { McpEndpoint } from "@matrx/shared/mcp/endpoint.ts";
import type { McpHost } from "@matrx/shared/mcp/host.ts";
import { mcpServer } from "@matrx/shared/mcp/server.ts";
import { type Rate, TokenBucket } from "@matrx/shared/rate-limit.ts";
import { retryIn } from "@matrx/shared/retry.ts";
import type { Caller } from "../auth/caller.ts";
import { logWarning } from "../log.ts";
import { RELAY_VERSION } from "../version.ts";

/** Callers whose endpoints are kept; who comes back after that gets a new one. */
const MOST_CALLERS = 256;

/** Messages of one caller besides those that its calls are counted by: many at once, then 50 a second. */
const REQUESTS: Rate = { burst: 200, everyMs: 20 };

interface Kept {
  readonly grants: readonly GrantId[];
  readonly endpoint: McpEndpoint;
  readonly requests: TokenBucket;
}

/** What callers' clients are served, and who wants to know that one listens. */
export interface Serving {
  hostFor(caller: Caller, origin: string): McpHost;
  onListen?(caller: Caller, ms: number): Promise<void>;
}

export class McpEndpoints {
  readonly #serving: Serving;
  readonly #kept = new Map<string, Kept>();

  constructor(serving: Serving) {
    this.#serving = serving;
  }

  /** The caller must have been admitted. Throws MatrxError `RATE_LIMITED`. */
  fetch(request: Request, caller: Caller): Promise<Response> {
    const now = Date.now();
    const { origin } = new URL(request.url);
    const key = [origin, caller.account, caller.grant, caller.guest?.grant].join(" ");
    const kept = this.#kept.get(key) ?? this.#make(caller, origin);
    // The one used last comes last.
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    if (this.#kept.size > MOST_CALLERS) this.#kept.delete(this.#kept.keys().next().value ?? "");
    takeOne(kept.requests, now);
    return kept.endpoint.fetch(request, caller.expires);
  }

  toolsChanged(): void {
    for (const { endpoint } of this.#kept.values()) endpoint.toolsChanged();
  }

  /** A grant, or a guest's session, has ended. */
  revoke(grant: GrantId): void {
    for (const [key, kept] of [...this.#kept]) if (kept.grants.includes(grant)) this.#end(key, kept);
  }

  /** Ends everything at once. */
  close(): void {
    for (const [key, kept] of [...this.#kept]) this.#end(key, kept);
  }

  #end(key: string, { endpoint }: Kept): void {
    this.#kept.delete(key);
    endpoint.close().catch((error: unknown) => logWarning("an MCP endpoint did not close", error));
  }

  #make(caller: Caller, origin: string): Kept {
    const onError = (error: unknown) => logWarning("an MCP request failed", error);
    const host = this.#serving.hostFor(caller, origin);
    const onListen = async (ms: number) => await this.#serving.onListen?.(caller, ms);
    const grants = caller.guest ? [caller.grant, caller.guest.grant] : [caller.grant];
    const makeServer = (session: string) => mcpServer(host, { version: RELAY_VERSION, session, onError });
    const requests = new TokenBucket(REQUESTS, Date.now());
    // The first message was counted as the request.
    const onBatch = (messages: number) => {
      for (let more = 1; more < messages; more++) takeOne(requests, Date.now());
    };
    return { grants, endpoint: new McpEndpoint(makeServer, { onListen, onBatch }), requests };
  }
}

function takeOne(requests: TokenBucket, now: number): void {
  if (!requests.take(now)) throw tooManyRequests(requests.promise(now));
}

function tooManyRequests(waitMs: number): MatrxError {
  return relayError("RATE_LIMITED", "Too many MCP requests at once", retryIn(waitMs));
}

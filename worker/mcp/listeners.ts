/** MCP endpoints over several devices whose clients listen for changed tools. Kept: who is to tell them may hibernate. */
import type { GrantId } from "@matrx/shared/ids.ts";
import { logWarning } from "../log.ts";
import type { Kv } from "../storage/watched.ts";

/** The objects of `objects/mcp.ts`, by grant. */
export interface ListeningObjects {
  getByName(grant: string): { toolsChanged(): Promise<void> };
}

/** The same, as the Worker reaches them. */
export interface McpObjects {
  getByName(grant: string): { fetch(request: Request): Promise<Response>; toolsChanged(): Promise<void> };
}

const KEY = "mcp_listeners";
const MOST = 64;
/** A grant is kept so much longer than it asked for, so that clients who listen again and again write little. In milliseconds. */
const SPARE_MS = 60_000;

export class ToolListeners {
  readonly #kv: Kv;
  readonly #objects: ListeningObjects;
  #until: Map<GrantId, number> | undefined;

  constructor(kv: Kv, objects: ListeningObjects) {
    this.#kv = kv;
    this.#objects = objects;
  }

  /** Clients of this grant listen until then, in milliseconds since 1970. */
  add(grant: GrantId, until: number, now: number): void {
    if ((this.#current.get(grant) ?? 0) >= until) return;
    const kept = new Map([...this.#current].filter(([, expires]) => expires > now));
    kept.delete(grant);
    kept.set(grant, until + SPARE_MS);
    this.#until = new Map([...kept].slice(-MOST));
    this.#kv.put(KEY, [...this.#until]);
  }

  /** The tools of one device, or which devices there are, may have changed. */
  tell(now: number): void {
    for (const [grant, until] of this.#current) {
      if (until <= now) continue;
      this.#objects
        .getByName(grant)
        .toolsChanged()
        .catch((error: unknown) => logWarning("MCP clients could not be told of changed tools", error));
    }
  }

  get #current(): ReadonlyMap<GrantId, number> {
    this.#until ??= new Map(this.#kv.get<[GrantId, number][]>(KEY) ?? []);
    return this.#until;
  }
}

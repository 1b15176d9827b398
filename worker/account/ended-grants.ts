/**
 * Whom the end of a grant must reach: whatever keeps a connection or a credential of it. Each device has such a list of its
 * own (`Device.revoke`). `test/worker/auth/ended-grants.test.ts` opens one of each kind: a new kind is added in both.
 */
import type { Grant } from "@matrx/shared/grant.ts";
import type { AccountId, GrantId } from "@matrx/shared/ids.ts";
import { logWarning } from "../log.ts";
import { grantStore, type OAuthStore } from "../objects/oauth-store.ts";
import type { PushSubscriptions } from "../push/subscriptions.ts";
import type { DeviceNews } from "./device-news.ts";
import type { PersonSockets } from "./person-sockets.ts";

/** The objects that serve MCP over all of a grant's devices, by grant. */
export interface GrantObjects {
  getByName(grant: string): { revoke(): Promise<void> };
}

interface Parts {
  readonly account: AccountId;
  readonly people: PersonSockets;
  readonly subscriptions: PushSubscriptions;
  readonly news: DeviceNews;
  readonly mcp: GrantObjects;
  readonly oauth: DurableObjectNamespace<OAuthStore>;
}

/** A grant that the account no longer has. */
export interface EndedGrant extends Pick<Grant, "id" | "kind"> {
  /** The devices that hold a copy. */
  readonly holders: readonly string[];
}

export class EndedGrants {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What is here ends at once; resolves when the rest has been told. A device that can't be told now is told later. */
  async end(grants: readonly EndedGrant[]): Promise<void> {
    const { people, subscriptions, news } = this.#parts;
    const now = Date.now();
    for (const { id, holders } of grants) {
      people.revoke(id);
      news.add(holders, { type: "revoke", grant: id }, now);
    }
    subscriptions.prune();
    const mcp = grants.filter(({ kind }) => kind !== "share" && kind !== "link");
    await Promise.all([
      news.flush(now),
      this.#forgetTokens(grants),
      ...mcp.map(({ id }) => this.#endMcp(id)),
    ]);
  }

  async #endMcp(grant: GrantId): Promise<void> {
    const told = this.#parts.mcp.getByName(grant).revoke();
    await told.catch((error: unknown) => logWarning("an MCP endpoint was not told of the end", error));
  }

  /** Without this, the tokens that clients got by OAuth still name their grants, which nothing accepts any more. */
  async #forgetTokens(grants: readonly EndedGrant[]): Promise<void> {
    const clients = grants.filter(({ kind }) => kind === "mcp").map(({ id }) => id);
    if (clients.length === 0) return;
    const store = grantStore(this.#parts.oauth, this.#parts.account);
    await store.forget(clients).catch((error: unknown) => logWarning("tokens of AI clients are left", error));
  }
}

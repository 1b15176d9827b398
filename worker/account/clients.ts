/** AI clients that a person let in by OAuth: each has a grant of its own, whose tokens the OAuth store keeps. */
import type { Grant, GrantClient } from "@matrx/shared/grant.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import type { NewToken } from "@matrx/shared/token-api.ts";
import { attempt, type Outcome } from "../outcome.ts";
import type { AccountContext } from "./context.ts";
import { grantHappening } from "./record.ts";

export class Clients {
  readonly #context: AccountContext;

  constructor(context: AccountContext) {
    this.#context = context;
  }

  /** Makes the grant of a client that the person lets in. */
  connect(person: GrantId, wish: NewToken, client: GrantClient): Promise<Outcome<Grant>> {
    return attempt(() => {
      const { tokens, alarms, record } = this.#context;
      const by = this.#context.person(person);
      this.#context.countCredential();
      const now = Date.now();
      this.#context.prune(now);
      const made = tokens.connect(wish, client, now);
      alarms.by("expiry", made.expires);
      record.note(grantHappening(made, "created"), by);
      return made;
    });
  }

  /** Until when a client's grant lives, in milliseconds since 1970; undefined: it is over. */
  until(grant: GrantId): number | undefined {
    return this.#find(grant)?.expires;
  }

  /** The client gave its tokens back, or somebody else used them. A grant that is over stays so. */
  async disconnect(grant: GrantId): Promise<void> {
    const found = this.#find(grant);
    if (found) await this.#context.revoke(grant, found);
  }

  #find(grant: GrantId): Grant | undefined {
    const found = this.#context.grants.find(grant, Date.now());
    return found?.kind === "mcp" ? found : undefined;
  }
}

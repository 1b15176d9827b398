/** An account as one of several on the relay: how it begins, what others see of it, and how it ends. */
import type { Grant } from "@matrx/shared/grant.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import { LIFETIME } from "@matrx/shared/tokens.ts";
import { attempt, type Outcome } from "../outcome.ts";
import type { AccountContext, NewSession } from "./context.ts";

/** Who presents a grant, and the account's name. */
export interface WhoAmI {
  grant: Grant;
  displayName: string | null;
}

export class Membership {
  readonly #context: AccountContext;

  constructor(context: AccountContext) {
    this.#context = context;
  }

  /** Begins the account of somebody whose invite was accepted, with a first session. */
  begin(name: string, session: NewSession): Promise<Outcome<Grant>> {
    return attempt(() => {
      const grant = this.#context.signIn("web", { ...session, how: "invite" }, LIFETIME.web);
      this.#context.profile.rename(name);
      return grant;
    });
  }

  whoAmI(grant: GrantId): Promise<Outcome<WhoAmI>> {
    return attempt(() => ({ grant: this.#context.grant(grant), displayName: this.#context.profile.name }));
  }

  rename(person: GrantId, name: string): Promise<Outcome<void>> {
    return attempt(() => {
      this.#context.person(person);
      this.#context.profile.rename(name);
    });
  }

  /**
   * Ends every grant, and lets nobody sign in again; devices stay, and nobody reaches them. The Worker has checked that
   * the relay's owner is asking.
   */
  close(): Promise<Outcome<void>> {
    return attempt(async () => {
      const { profile, grants } = this.#context;
      const now = Date.now();
      profile.close(now);
      this.#context.vapid.destroy();
      await this.#context.revokeAll(grants.list(now).map(({ id }) => id));
    });
  }
}

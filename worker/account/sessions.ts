/** A person's sessions: signing in and out. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { type Grant, isPersonSession } from "@matrx/shared/grant.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import { LIFETIME } from "@matrx/shared/tokens.ts";
import { unauthenticated } from "../auth/keys.ts";
import type { SessionProof } from "../auth/session-proof.ts";
import { attempt, type Outcome } from "../outcome.ts";
import type { AccountContext, NewSession } from "./context.ts";

export class Sessions {
  readonly #context: AccountContext;

  constructor(context: AccountContext) {
    this.#context = context;
  }

  /** Signs a person in with a sign-in link's code, once. */
  claim(code: { id: string; expires: number }, session: NewSession): Promise<Outcome<Grant>> {
    return attempt(() => {
      if (!this.#context.codes.use(code.id, code.expires))
        throw new MatrxError(
          unauthenticated("This sign-in link has already been used", "Make a new one with `npm run link`"),
        );
      return this.#context.signIn("web", session, LIFETIME.web);
    });
  }

  /** Signs a person in whom an issuer named, once for each attempt. */
  signInByIssuer(pending: { id: string; expires: number }, session: NewSession): Promise<Outcome<Grant>> {
    return attempt(() => {
      if (!this.#context.codes.use(pending.id, pending.expires))
        throw new MatrxError(unauthenticated("This sign-in has already been finished", "Start again"));
      return this.#context.signIn("web", session, LIFETIME.web);
    });
  }

  /** The grant of a browser's session that proved its key; the proof's nonce works once. */
  prove(grant: GrantId, { thumbprint, nonce }: SessionProof): Promise<Outcome<Grant>> {
    return attempt(() => {
      const found = this.#context.grant(grant);
      if (found.kind !== "web" || found.key !== thumbprint)
        throw new MatrxError(unauthenticated("This key is not the session's", "Sign in again on this page"));
      if (!this.#context.codes.use(nonce.id, nonce.expires))
        throw new MatrxError(unauthenticated("The proof was used before", "Sign one with a new nonce"));
      return found;
    });
  }

  /** Creates the person session for a command line that a signed-in person confirmed. */
  createLogin(grant: GrantId, name: string): Promise<Outcome<Grant>> {
    return attempt(() => {
      this.#context.person(grant);
      return this.#context.signIn("cli", { name }, LIFETIME.cli);
    });
  }

  /** Counts a sign-in link that a person makes. */
  countLink(grant: GrantId): Promise<Outcome<void>> {
    return attempt(() => {
      this.#context.person(grant);
      this.#context.countCredential();
    });
  }

  /** Signs out every browser and command line except the caller's. Returns how many. */
  revokeOthers(grant: GrantId): Promise<Outcome<number>> {
    return attempt(async () => {
      this.#context.person(grant);
      const others = this.#context.grants
        .list(Date.now())
        .filter((other) => isPersonSession(other) && other.id !== grant);
      await this.#context.revokeAll(others.map(({ id }) => id));
      return others.length;
    });
  }

  /** Ends the caller's own grant. */
  signOut(grant: GrantId): Promise<Outcome<void>> {
    return attempt(() => this.#context.revoke(this.#context.grant(grant).id));
  }
}

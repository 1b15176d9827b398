/** An account's tokens, as its person makes, sees, changes and revokes them. */
import type { Grant } from "@matrx/shared/grant.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import type { Excepted } from "@matrx/shared/policy.ts";
import type { ChangedToken, NewToken, TokenDetails, TokenView } from "@matrx/shared/token-api.ts";
import { attempt, type Outcome } from "../outcome.ts";
import type { AccountContext } from "./context.ts";
import { grantHappening } from "./record.ts";
import { warningOf } from "./views.ts";

export class ManagedTokens {
  readonly #context: AccountContext;

  constructor(context: AccountContext) {
    this.#context = context;
  }

  /** Makes a token's grant; `view` is what the person is shown. */
  create(
    person: GrantId,
    wish: NewToken,
  ): Promise<Outcome<{ grant: Grant; view: TokenView; warning: string | undefined }>> {
    return attempt(() => {
      const { tokens, alarms, record } = this.#context;
      const by = this.#context.person(person);
      this.#context.countCredential();
      const now = Date.now();
      this.#context.prune(now);
      const made = tokens.create(wish, now);
      alarms.by("expiry", made.expires);
      record.note(grantHappening(made, "created"), by);
      return { grant: made, view: tokens.view(made), warning: warningOf(made) };
    });
  }

  /** Keeps the hash of the id of a grant's one token. */
  keep(grant: GrantId, hash: string): Promise<Outcome<void>> {
    return attempt(() => {
      this.#context.grants.update({ ...this.#context.grant(grant), token: hash });
    });
  }

  /** Whether a token with this hash was given for a grant. */
  keeps(grant: GrantId, hash: string): boolean {
    return this.#context.grants.find(grant, Date.now())?.token === hash;
  }

  list(person: GrantId): Promise<Outcome<TokenView[]>> {
    return attempt(() => {
      this.#context.person(person);
      return this.#context.tokens.list(Date.now());
    });
  }

  read(person: GrantId, token: GrantId): Promise<Outcome<TokenDetails>> {
    return attempt(() => {
      this.#context.person(person);
      return this.#context.tokens.details(token, Date.now());
    });
  }

  /** Narrows or widens a token's grant; the devices that hold it are told until each has confirmed. */
  change(person: GrantId, token: GrantId, change: ChangedToken): Promise<Outcome<TokenDetails>> {
    return attempt(async () => {
      const { tokens } = this.#context;
      const by = this.#context.person(person);
      const holders = tokens.change(token, change, Date.now());
      this.#noteChange(token, by);
      await this.#context.tell(holders, { type: "change", grant: token });
      this.#context.listeners.tell(Date.now());
      return tokens.details(token, Date.now());
    });
  }

  /** "Always": from now on calls of this kind are excepted from the questions of a grant. Returns the grant. */
  exceptTool(person: GrantId, grant: GrantId, excepted: Excepted): Promise<Outcome<Grant>> {
    return attempt(async () => {
      const by = this.#context.person(person);
      const holders = this.#context.tokens.except(grant, excepted, Date.now());
      this.#noteChange(grant, by);
      await this.#context.tell(holders, { type: "change", grant });
      return this.#context.grant(grant);
    });
  }

  /** Revokes a grant of any kind; the Device objects close its open sockets. */
  revoke(person: GrantId, token: GrantId): Promise<Outcome<void>> {
    return attempt(async () => {
      await this.#context.revoke(token, this.#context.person(person));
    });
  }

  #noteChange(id: GrantId, by: Grant): void {
    this.#context.record.note(grantHappening(this.#context.grant(id), "changed"), by);
  }
}

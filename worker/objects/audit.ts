/** The record of one account: who did what on which machine. Each entry is chained to the one before by its hash. */
import { DurableObject } from "cloudflare:workers";
import { migrate } from "../storage/migrate.ts";
import { AUDIT } from "../storage/migrations.ts";

export class Audit extends DurableObject {
  constructor(state: DurableObjectState, env: unknown) {
    super(state, env as never);
    migrate(state.storage, AUDIT);
  }
}

/** A grant: what one caller may do. Kept by the Account object, leased by Device objects, named in frames to the agent. */
import * as z from "zod";
import { effectSchema } from "./effects.ts";
import type { AccountId, GrantId } from "./ids.ts";

/** The part of a grant that a Device object and the agent need, and the only part sent in frames. */
export const grantScopeSchema = z.object({
  id: z.string().transform((id) => id as GrantId),
  /** Whether it acts for the account's owner: shell without sandbox, the wider rates, every job. */
  owner: z.boolean(),
  effects: z.array(effectSchema),
  /** Tools by name; absent: no limit on this side. */
  tools: z.array(z.string()).optional(),
  /** Folders for file tools; absent: no limit on this side. */
  paths: z.array(z.string()).optional(),
});
export type GrantScope = z.infer<typeof grantScopeSchema>;

/** How the grant came to be: `web` and `cli` are person sessions, `api` is a token. */
export type GrantKind = "web" | "cli" | "api";

/** A grant as the Account object keeps it. */
export interface Grant extends GrantScope {
  account: AccountId;
  kind: GrantKind;
  name: string;
  /** Devices by id; absent: all devices of the account. */
  devices?: string[];
  /** Milliseconds since 1970. */
  created: number;
  /** Milliseconds since 1970. */
  expires: number;
  /** Incremented on every change, so that a stale copy can be recognised. */
  version: number;
}

/** Whether a person signed in for this grant: then it may manage grants, devices, policy and pairing. */
export function isPersonSession(grant: Pick<Grant, "kind">): boolean {
  return grant.kind === "web" || grant.kind === "cli";
}

/** A grant: what one caller may do. Kept by the Account object, leased by Device objects, named in frames to the agent. */
import * as z from "zod";
import { effectSchema } from "./effects.ts";
import type { AccountId, GrantId } from "./ids.ts";

/** What a Device object and the agent need of a grant, and all that travels in a frame. */
export const grantScopeSchema = z.object({
  id: z.string().transform((id) => id as GrantId),
  /** The account's owner acts through it: shell without sandbox, the wider rates, every job. */
  owner: z.boolean(),
  effects: z.array(effectSchema),
  /** Tools by name; absent: not limited by this side. */
  tools: z.array(z.string()).optional(),
  /** Folders for file tools; absent: not limited by this side. */
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
  /** Devices by id; absent: all of the account. */
  devices?: string[];
  /** Milliseconds since 1970. */
  created: number;
  /** Milliseconds since 1970. */
  expires: number;
  /** Grows with every change, so that a late copy is known as late. */
  version: number;
}

/** A person signed in for this grant: it may manage grants, devices, policy and pairing. */
export function isPersonSession(grant: Pick<Grant, "kind">): boolean {
  return grant.kind === "web" || grant.kind === "cli";
}

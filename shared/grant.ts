/** A grant: what one caller may do. Kept by the Account object, leased by Device objects, named in frames to the agent. */
import * as z from "zod";
import { askRulesSchema } from "./access-rules.ts";
import { effectSchema } from "./effects.ts";
import type { AccountId, GrantId } from "./ids.ts";

/** The part of a grant that a Device object and the agent need, and the only part sent in frames. */
export const grantScopeSchema = z.object({
  id: z.string().transform((id) => id as GrantId),
  /** Whether it acts for the account's owner: commands without sandbox, the wider rates, every job. */
  owner: z.boolean(),
  effects: z.array(effectSchema),
  /** Tools by name or glob; absent: no limit on this side. */
  tools: z.array(z.string()).optional(),
  /** Families that models are shown, of which an older program may know less; absent: the usual ones. No right comes with them. */
  tool_families: z.array(z.string()).optional(),
  /** Folders for file tools and commands; absent: no limit on this side. */
  paths: z.array(z.string()).optional(),
  /** Globs of paths that are closed, also in those folders. */
  denied_paths: z.array(z.string()).optional(),
  /** Lifts the closure of secrets (`secret-paths.ts`), which otherwise binds every grant that is not the owner's. */
  secrets: z.literal("open").optional(),
  /** When a person is asked first; never for the owner. */
  ask: askRulesSchema.optional(),
  /** Domains that commands may reach; absent: none. */
  network: z.array(z.string()).optional(),
  /** The only ports that it may reach, also where a policy lists none; absent: no limit on this side. */
  ports: z.array(z.int()).optional(),
});
export type GrantScope = z.infer<typeof grantScopeSchema>;

/** How the grant came to be: `web` and `cli` by signing in, `api` as a token, `share` for another account. */
export const grantKindSchema = z.enum(["web", "cli", "api", "share"]);
export type ToldGrantKind = z.infer<typeof grantKindSchema>;
/**
 * `mcp`: an AI client that a person let in by OAuth, told as `api` with a `client`. `link`: a link to a file, for whoever
 * has it, told as `share`. Older programs know neither.
 */
export type GrantKind = ToldGrantKind | "mcp" | "link";

/** Those of a person who signed in. */
export type SessionKind = Extract<GrantKind, "web" | "cli">;

/**
 * Who acts by a grant. `person`: somebody who signed in. `script`: an own script token, which acts as the owner but never
 * does what takes a person. `ai`: an AI grant, which is never the owner's. `guest`: a person of another account, by a share.
 */
export const credentialSchema = z.enum(["person", "script", "ai", "guest"]);
export type Credential = z.infer<typeof credentialSchema>;

/** A word by which an account groups its devices. */
export const tagSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,31}$/, "must be 1 to 32 of a-z 0-9 . _ - and begin with a letter or digit");

/** A program that was let in by OAuth, as it names itself. */
export const grantClientSchema = z.object({
  id: z.string().describe("Its client id"),
  name: z.string().describe("What it calls itself"),
  host: z.string().nullable().describe("The host that vouches for it; null: nobody does"),
});
export type GrantClient = z.infer<typeof grantClientSchema>;

/** A grant as the Account object keeps it. */
export interface Grant extends GrantScope {
  account: AccountId;
  kind: GrantKind;
  name: string;
  /** Devices by id; with `tags`, in addition to those. Both absent: all devices of the account. */
  devices?: string[];
  /** Devices by tag. */
  tags?: string[];
  /** Milliseconds since 1970. */
  created: number;
  /** Milliseconds since 1970. */
  expires: number;
  /** When the token itself expires; absent: with the grant. Milliseconds since 1970. */
  token_expires?: number;
  /** Thumbprint of the key that a browser's session is bound to (RFC 7638). */
  key?: string;
  /** SHA-256 of the id of its one token, in base64url; absent for browsers, and of tokens from before it was kept. */
  token?: string;
  /** The account that accepted a share, and what it was called then. */
  guest?: { account: AccountId; name: string | null };
  /** The program that an `mcp` grant was made for. */
  client?: GrantClient;
  /** Incremented on every change, so that a stale copy can be recognised. */
  version: number;
}

/** Whether a person signed in for this grant: then it may manage grants, devices, policy and pairing. */
export function isPersonSession(grant: Pick<Grant, "kind">): boolean {
  return grant.kind === "web" || grant.kind === "cli";
}

export function toldKindOf({ kind }: Pick<Grant, "kind">): ToldGrantKind {
  if (kind === "mcp") return "api";
  return kind === "link" ? "share" : kind;
}

export function credentialOf(grant: Pick<Grant, "kind" | "owner">): Credential {
  if (isPersonSession(grant)) return "person";
  if (grant.kind === "share" || grant.kind === "link") return "guest";
  return grant.owner ? "script" : "ai";
}

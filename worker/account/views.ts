/** What the Account object shows of itself. */
import { credentialOf, type Grant, toldKindOf } from "@matrx/shared/grant.ts";
import { grantWords } from "@matrx/shared/grant-words.ts";
import type { TokenView } from "@matrx/shared/token-api.ts";

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** `nameOf` gives a device's name. */
export function tokenView(grant: Grant, nameOf: (device: string) => string): TokenView {
  const credential = credentialOf(grant);
  return {
    id: grant.id,
    name: grant.name,
    kind: toldKindOf(grant),
    credential,
    ...(grant.client && { client: grant.client }),
    access: grant.effects.includes("write") || grant.effects.includes("execute") ? "full" : "read",
    summary: grantWords(grant, nameOf),
    devices: grant.devices ?? null,
    tags: grant.tags ?? null,
    paths: grant.paths ?? null,
    denied_paths: grant.denied_paths ?? null,
    secrets: grant.owner || grant.secrets ? "open" : "closed",
    tools: grant.tools ?? null,
    tool_families: grant.tool_families ?? null,
    effects: grant.effects,
    ask: grant.ask ?? null,
    network: grant.network ?? null,
    ...(grant.kind === "share" && {
      shared_with: grant.guest ? (grant.guest.name ?? grant.guest.account) : null,
    }),
    version: grant.version,
    created: isoTime(grant.created),
    expires: isoTime(grant.expires),
  };
}

/** What a person should know before using a new token; undefined: nothing. */
export function warningOf(grant: Grant): string | undefined {
  if (credentialOf(grant) !== "script") return undefined;
  const where =
    grant.devices || grant.tags ? "its devices" : "all your devices, also those that you add later";
  return `This token acts as you on ${where}: nothing is asked, secrets are open, and commands run unconfined. Never give it to an AI; an AI grant is made for that.`;
}

/** What the Account object shows of itself. */
import type { tokenViewSchema } from "@matrx/shared/api.ts";
import type { Grant } from "@matrx/shared/grant.ts";
import type * as z from "zod";

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

export function tokenView(grant: Grant): z.infer<typeof tokenViewSchema> {
  return {
    id: grant.id,
    name: grant.name,
    kind: grant.kind,
    access: grant.effects.includes("write") || grant.effects.includes("execute") ? "full" : "read",
    devices: grant.devices ?? null,
    paths: grant.paths ?? null,
    created: isoTime(grant.created),
    expires: isoTime(grant.expires),
  };
}

/** A person's record, as the relay's routes tell it. */
import type { AuditEntry, SignedHead } from "@matrx/shared/audit.ts";
import { type KnownHead, type Verdict, verifyChain } from "@matrx/shared/audit-chain.ts";
import { hexOf } from "@matrx/shared/ids.ts";
import { sha256 } from "@noble/hashes/sha2.js";
import { expect, vi } from "vitest";
import type { Person } from "./relay.ts";

/** All entries that fit a filter, oldest first. */
export async function recordOf(person: Person, filter: Record<string, string> = {}): Promise<AuditEntry[]> {
  const query = new URLSearchParams({ format: "jsonl", ...filter });
  const response = await person.ask(`/v1/audit/export?${query}`);
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const lines = new TextDecoder()
    .decode(await response.arrayBuffer())
    .split("\n")
    .filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as AuditEntry);
}

/** The same once it has so many: devices tell it in small batches. */
export async function recordWith(
  person: Person,
  count: number,
  filter: Record<string, string> = {},
): Promise<AuditEntry[]> {
  return vi.waitFor(
    async () => {
      const entries = await recordOf(person, filter);
      expect(entries.length).toBeGreaterThanOrEqual(count);
      return entries;
    },
    { timeout: 10_000 },
  );
}

export async function headOf(person: Person): Promise<SignedHead> {
  return (await person.ask("/v1/audit/head")).json();
}

/** What somebody finds out who verifies the whole record. */
export async function verified(person: Person, heads: KnownHead[] = []): Promise<Verdict> {
  const hash = (text: string) => hexOf(sha256(new TextEncoder().encode(text)));
  return verifyChain(await recordOf(person), { sha256: hash, heads });
}

/**
 * Verifies the record in this browser: recomputes each hash, follows the chain, and compares it with the relay's signed end
 * and with the end that this browser saw the last time.
 */
import { verifyChain } from "@matrx/shared/audit-chain.ts";
import { lastKnown, remember } from "../../../base/last-known.ts";
import { api } from "../../../relay/api.ts";
import type { Answer } from "../../../relay/routes.ts";
import { fits } from "../../../relay/shapes.ts";

const HEAD = "GET /v1/audit/head";

export interface Verified {
  readonly isSound: boolean;
  readonly text: string;
}

/** What is kept of a record that was in order, in this browser. */
const KEPT = "record-head";
const PAGE = 500;

/** Reads the whole record, oldest entry first. `progress` is told how many entries were read so far. Throws ApiError. */
export async function verifyRecord(progress: (entries: number) => void): Promise<Verified> {
  // The end first: what is written meanwhile only makes the record longer.
  const head = await api(HEAD);
  const kept = lastKnown(KEPT, (head) => fits(HEAD, head));
  const before = kept?.value.account === head.account ? kept : undefined;
  const heads = [head, ...(before ? [before.value] : [])];
  const verdict = await verifyChain(allEntries(progress), { sha256, heads });
  const { entries, fault, gaps } = verdict;
  if (fault)
    return {
      isSound: false,
      text: `Not in order. The first wrong entry is number ${fault.seq}: ${fault.message}.`,
    };
  remember(KEPT, head);
  const since = before ? `, and with what this browser saw on ${new Date(before.at).toLocaleString()}` : "";
  const missing = gaps > 0 ? ` It says itself that calls may be missing in ${gaps} places.` : "";
  return {
    isSound: true,
    text: `In order: ${entries} entries, each as it was written. They agree with the signed end${since}.${missing}`,
  };
}

async function* allEntries(progress: (entries: number) => void): AsyncGenerator<unknown> {
  let count = 0;
  for (let after: number | null = 0; after !== null; ) {
    const page: Answer<"GET /v1/audit"> = await api("GET /v1/audit", { query: { after, limit: PAGE } });
    yield* page.entries;
    count += page.entries.length;
    progress(count);
    after = page.next ?? null;
  }
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

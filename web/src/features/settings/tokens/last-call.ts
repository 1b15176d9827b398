/** When a token was used last, by the account's record. */
import { api } from "../../../relay/api.ts";
import type { Answer } from "../../../relay/routes.ts";

type Entry = Answer<"GET /v1/audit">["entries"][number];
export type CallEntry = Extract<Entry, { type: "call" | "denied" }>;

/** The relay looks through so much of the record at a time. */
const PAGES = 5;

/** Undefined: it made none, as far as was looked. Throws ApiError. */
export async function lastCallOf(grant: string): Promise<CallEntry | undefined> {
  let before: number | undefined;
  for (let page = 0; page < PAGES; page++) {
    const query = { grant, limit: 50, ...(before !== undefined && { before }) };
    const { entries, next } = await api("GET /v1/audit", { query });
    const call = entries.find((entry) => isCall(entry) && entry.by?.grant === grant);
    if (call && isCall(call)) return call;
    if (next === null) return undefined;
    before = next;
  }
  return undefined;
}

function isCall(entry: Entry): entry is CallEntry {
  return entry.type === "call" || entry.type === "denied";
}

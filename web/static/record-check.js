/** Verifies the record in this browser: recomputes each hash, follows the chain, and compares its end with the relay's signed head. */
import { api } from "./api.js";

const GENESIS = "0".repeat(64);
const PAGE = 500;
const encoder = new TextEncoder();

/** Reads the whole record, oldest entry first. `progress` is told how many entries were in order so far. */
export async function verifyRecord(progress) {
  // The head first: what is written meanwhile only makes the record longer.
  const head = await api("GET /v1/audit/head");
  let last;
  let count = 0;
  let headHash = head.seq === 0 ? head.hash : undefined;
  for (let after = 0; after !== null; ) {
    const page = await api(`GET /v1/audit?after=${after}&limit=${PAGE}`);
    for (const entry of page.entries) {
      const fault = await faultOf(entry, last);
      if (fault) return wrong(entry.seq, fault);
      if (entry.seq === head.seq) headHash = entry.hash;
      last = entry;
      count++;
    }
    progress(count);
    after = page.next;
  }
  if (headHash === undefined)
    return wrong(head.seq, "the record ends before it, but its signed end names it");
  if (headHash !== head.hash) return wrong(head.seq, "it is not the entry that the signed end names");
  return { isSound: true, text: `In order: ${count} entries, each as it was written, up to the signed end.` };
}

/** What is wrong with an entry after the last one; undefined: nothing. */
async function faultOf(entry, last) {
  const { hash, ...hashed } = entry;
  const expected = last ? last.seq + 1 : entry.seq;
  if (entry.seq !== expected) return `entry ${expected} should stand here`;
  const before = last ? last.hash : entry.seq === 1 ? GENESIS : entry.prev;
  if (entry.prev !== before) return "it follows another entry than the one before it";
  if ((await sha256(entry.prev + canonicalJson(hashed))) !== hash) return "its content was changed";
  return undefined;
}

function wrong(seq, why) {
  return { isSound: false, text: `Not in order. The first wrong entry is number ${seq}: ${why}.` };
}

/** JSON with one form for each value (RFC 8785), as in shared/canonical-json.ts. */
function canonicalJson(value) {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

async function sha256(text) {
  const digest = await crypto.subtle.digest("SHA-256", encoder.encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

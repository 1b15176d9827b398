/** The account's record, fetched from the relay and checked here. */
import { createHash } from "node:crypto";
import type { RelayClient } from "@matrx/client/http/relay-client.ts";
import { type AuditHead, type SignedHead, signedHeadSchema } from "@matrx/shared/audit.ts";
import { type Verdict, verifyChain } from "@matrx/shared/audit-chain.ts";
import { relayError } from "@matrx/shared/errors.ts";
import { AUDIENCE } from "@matrx/shared/tokens.ts";
import { createLocalJWKSet, errors, jwtVerify } from "jose";
import * as z from "zod";
import type { KeptHead } from "../../config/kept-heads.ts";

/** What somebody who verifies the record learns. */
export interface Verified extends Verdict {
  readonly account: string;
  readonly head: AuditHead;
  /** How many heads that this machine kept were compared. */
  readonly compared: number;
  /** How many were not: another relay signed them, or this one with a key that it no longer has. */
  readonly others: number;
}

const jwksSchema = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

type KeySet = ReturnType<typeof createLocalJWKSet>;

/** Fetches the whole record and checks it. Throws MatrxError if the relay cannot be read, or signs wrongly. */
export async function verifyRecord(client: RelayClient, keptHeads: readonly KeptHead[]): Promise<Verified> {
  const head = await client.get("/v1/audit/head", signedHeadSchema);
  const keys = createLocalJWKSet(await client.get("/.well-known/jwks.json", jwksSchema));
  if (!(await isSignedBy(keys, head))) throw wronglySigned("The record's head is not signed by this relay");
  const kept: KeptHead[] = [];
  const own = keptHeads.filter(({ account }) => account === head.account);
  // A relay has several addresses, so its keys tell whether it signed; at the same address, it must answer for older keys too.
  for (const one of own) if ((await isSignedBy(keys, one)) || one.relay === client.relay) kept.push(one);
  const entries = jsonLines(await client.open("/v1/audit/export", { query: { format: "jsonl" } }));
  const verdict = await verifyChain(entries, { sha256, heads: [...kept, head] });
  // What was deleted because of its age cannot be compared.
  const compared = kept.filter(({ seq }) => seq >= verdict.first).length;
  return { ...verdict, account: head.account, head, compared, others: own.length - kept.length };
}

/** The values of JSON lines; a line that is no JSON is undefined. */
export async function* jsonLines(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  let rest = "";
  for await (const piece of body.pipeThrough(
    new TextDecoderStream() as never,
  ) as unknown as AsyncIterable<string>) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield parsed(line);
  }
  if (rest !== "") yield parsed(rest);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** False: by a key that the relay no longer has. Throws MatrxError if the signature is wrong. */
async function isSignedBy(keys: KeySet, head: SignedHead): Promise<boolean> {
  try {
    const { payload } = await jwtVerify(head.signed, keys, { audience: AUDIENCE.auditHead });
    const { sub, seq, hash } = payload;
    if (sub === head.account && seq === head.seq && hash === head.hash) return true;
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return false;
    if (!(error instanceof errors.JOSEError)) throw error;
  }
  throw wronglySigned(`The signature under the head of entry ${head.seq} is wrong`);
}

function wronglySigned(message: string) {
  return relayError("INVALID_ANSWER", message, {
    hint: "Somebody between you and the relay, or on this machine, changed it: check the relay's address",
  });
}

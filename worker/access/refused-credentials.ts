/**
 * Counts refused credentials by source, in this isolate's memory: a client that keeps sending one is told to wait.
 * The right credential is checked first and never counted, so nobody is locked out by others at the same address. Where a
 * page trades its cookie nothing is counted either: one whose session has ended must learn that.
 */
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import { type Rate, TokenBucket } from "@matrx/shared/rate-limit.ts";
import { retryIn } from "@matrx/shared/retry.ts";
import { readCookie } from "../auth/cookie.ts";
import type { Env } from "../env.ts";
import { sourceOf } from "./anonymous-rate-limit.ts";

/** 30 at once, then one every two seconds. */
const RATE: Rate = { burst: 30, everyMs: 2000 };
const ADDRESSES_MAX = 1000;

const buckets = new Map<string, TokenBucket>();

/** The error to answer with: itself, or `RATE_LIMITED` when this address sent too many wrong credentials. */
export function countRefusal(env: Env, request: Request, error: unknown): unknown {
  const isRefusal = error instanceof MatrxError && error.code === "UNAUTHENTICATED";
  if (!isRefusal || error.details?.reason === "no_credential" || isRenewal(env, request)) return error;
  const now = Date.now();
  const bucket = bucketOf(sourceOf(env, request), now);
  if (bucket.take(now)) return error;
  const advice = "the credential was refused again and again: get a new one";
  return relayError(
    "RATE_LIMITED",
    "Too many wrong credentials from this address",
    retryIn(bucket.readyIn(now), advice),
  );
}

/** Forgets what was counted, for tests whose files share an isolate. */
export function forgetRefusals(): void {
  buckets.clear();
}

function isRenewal(env: Env, request: Request): boolean {
  return readCookie(env, request) !== undefined && new URL(request.url).pathname === "/v1/session";
}

function bucketOf(address: string, now: number): TokenBucket {
  const known = buckets.get(address);
  if (known) return known;
  if (buckets.size >= ADDRESSES_MAX) makeRoom(now);
  const bucket = new TokenBucket(RATE, now);
  buckets.set(address, bucket);
  return bucket;
}

/** Forgets addresses that have their whole rate again, or else the one that was seen first. */
function makeRoom(now: number): void {
  for (const [address, bucket] of buckets) if (bucket.isFull(now)) buckets.delete(address);
  const [first] = buckets.keys();
  if (buckets.size >= ADDRESSES_MAX && first !== undefined) buckets.delete(first);
}

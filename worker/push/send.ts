/** Posts one message to a push service (RFC 8030), within limits of time and size. No redirect is followed. */
import { base64url } from "jose";
import { type Receiver, seal } from "./seal.ts";
import type { Vapid } from "./vapid.ts";

/** A browser as its push service knows it. */
export interface Target extends Receiver {
  readonly endpoint: string;
  /** The relay's address, by which a push service finds whoever runs it. */
  readonly contact: string;
}

export interface Sending {
  readonly text: string;
  /** Of two messages about the same thing, a push service that has not delivered the first keeps the last. */
  readonly about: string;
  readonly urgency: "normal" | "high";
  /** For how long a push service keeps it, in milliseconds. */
  readonly keptFor: number;
}

export type Sent =
  | { readonly type: "sent" }
  /** The subscription has ended. */
  | { readonly type: "gone" }
  /** To be tried again; `afterMs` if the service says when. */
  | { readonly type: "later"; readonly problem: string; readonly afterMs?: number }
  /** To be tried no more. */
  | { readonly type: "refused"; readonly problem: string };

/** A push service answers within this time, in milliseconds. */
const ANSWERS_WITHIN = 8_000;
const TOPIC_CHARS = 32;

/** Never throws for what a push service does. */
export async function sendPush(
  { endpoint, contact, p256dh, auth }: Target,
  { text, about, urgency, keptFor }: Sending,
  vapid: Vapid,
  now: number,
): Promise<Sent> {
  const headers = {
    Authorization: await vapid.authorization(new URL(endpoint).origin, contact, now),
    "Content-Encoding": "aes128gcm",
    "Content-Type": "application/octet-stream",
    TTL: String(Math.max(1, Math.ceil(keptFor / 1000))),
    Urgency: urgency,
    Topic: await topicOf(about, auth),
  };
  const body = await seal(text, { p256dh, auth });
  try {
    const signal = AbortSignal.timeout(ANSWERS_WITHIN);
    const response = await fetch(endpoint, { method: "POST", headers, body, redirect: "manual", signal });
    await response.body?.cancel();
    return outcomeOf(response, now);
  } catch {
    return { type: "later", problem: "Its push service can't be reached" };
  }
}

function outcomeOf({ status, headers }: Response, now: number): Sent {
  if (status >= 200 && status < 300) return { type: "sent" };
  if (status === 404 || status === 410) return { type: "gone" };
  const problem = `Its push service answered ${status}`;
  if (status !== 429 && status < 500) return { type: "refused", problem };
  const afterMs = waitOf(headers.get("Retry-After"), now);
  return { type: "later", problem, ...(afterMs !== undefined && { afterMs }) };
}

/** Seconds, or a date (RFC 9110, section 10.2.3). */
function waitOf(text: string | null, now: number): number | undefined {
  if (!text) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Says nothing of what it is about to whoever does not have the browser's secret. */
async function topicOf(about: string, auth: string): Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", base64url.decode(auth), algorithm, false, ["sign"]);
  const digest = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(about));
  return base64url.encode(new Uint8Array(digest)).slice(0, TOPIC_CHARS);
}

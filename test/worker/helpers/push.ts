/** A push service, and a browser that subscribed there: it opens what it is sent by RFC 8291's own steps, not by ours. */
import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { NewPushSubscription, PushSubscriptionView, PushView } from "@matrx/shared/push-api.ts";
import type { PushMessage } from "@matrx/shared/push-message.ts";
import { base64url } from "jose";
import { vi } from "vitest";
import { json, type Person } from "./relay.ts";

const CURVE = { name: "ECDH", namedCurve: "P-256" };
const HMAC = { name: "HMAC", hash: "SHA-256" };

/** A browser's side of a subscription. */
export class PushBrowser {
  readonly endpoint: string;
  readonly auth: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly #privateKey: CryptoKey;

  constructor(endpoint: string, keys: { auth: Uint8Array; publicKey: Uint8Array; privateKey: CryptoKey }) {
    this.endpoint = endpoint;
    this.auth = keys.auth;
    this.publicKey = keys.publicKey;
    this.#privateKey = keys.privateKey;
  }

  static async open(endpoint = `https://push.test/send/${crypto.randomUUID()}`): Promise<PushBrowser> {
    const pair = (await crypto.subtle.generateKey(CURVE, true, ["deriveBits"])) as CryptoKeyPair;
    const publicKey = new Uint8Array((await crypto.subtle.exportKey("raw", pair.publicKey)) as ArrayBuffer);
    const auth = crypto.getRandomValues(new Uint8Array(16));
    return new PushBrowser(endpoint, { auth, publicKey, privateKey: pair.privateKey });
  }

  /** What it gives to the relay. */
  get subscription(): NewPushSubscription {
    const { endpoint, publicKey, auth } = this;
    return { endpoint, keys: { p256dh: base64url.encode(publicKey), auth: base64url.encode(auth) } };
  }

  /** RFC 8291, section 3, and RFC 8188, section 2, with HMAC alone. */
  async read(body: Uint8Array): Promise<string> {
    const [salt, size, keyLength] = [body.slice(0, 16), new DataView(body.buffer).getUint32(16), body[20]];
    if (size !== 4096 || keyLength !== 65) throw new Error(`record size ${size}, key length ${keyLength}`);
    const [sender, sealed] = [body.slice(21, 86), body.slice(86)];
    const other = await crypto.subtle.importKey("raw", sender, CURVE, false, []);
    const bits = { name: "ECDH", public: other };
    const shared = new Uint8Array(await crypto.subtle.deriveBits(bits, this.#privateKey, 256));
    const prkKey = await hmac(this.auth, shared);
    const ikm = await hmac(prkKey, text("WebPush: info\0"), this.publicKey, sender, [1]);
    const prk = await hmac(salt, ikm);
    const key = (await hmac(prk, text("Content-Encoding: aes128gcm\0"), [1])).slice(0, 16);
    const iv = (await hmac(prk, text("Content-Encoding: nonce\0"), [1])).slice(0, 12);
    const aes = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["decrypt"]);
    const record = new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, aes, sealed));
    const end = record.findLastIndex((byte) => byte !== 0);
    if (record[end] !== 2) throw new Error("the record has no end");
    return new TextDecoder().decode(record.subarray(0, end));
  }
}

/** What a push service was sent. */
export interface Posted {
  url: string;
  redirect: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Every push service there is, and nothing else of the internet. */
export class PushServices {
  readonly posted: Posted[] = [];
  /** What they answer; 201 without it. */
  answer: (posted: Posted) => Response | Promise<Response> = () => new Response(null, { status: 201 });

  /** Until `vi.restoreAllMocks`. */
  static start(): PushServices {
    const services = new PushServices();
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
      const request = new Request(input, init);
      const { url, redirect } = request;
      const headers = Object.fromEntries(request.headers);
      const posted = { url, redirect, headers, body: new Uint8Array(await request.arrayBuffer()) };
      services.posted.push(posted);
      return services.answer(posted);
    });
    return services;
  }

  /** What a browser was sent so far. */
  async messagesTo(browser: PushBrowser): Promise<PushMessage[]> {
    const own = this.posted.filter(({ url }) => url === browser.endpoint);
    return Promise.all(own.map(async ({ body }) => JSON.parse(await browser.read(body)) as PushMessage));
  }
}

/** Subscribes the person's session, and throws unless it worked. */
export async function subscribe(
  person: Person,
  more: Partial<NewPushSubscription> = {},
): Promise<{ browser: PushBrowser; id: string }> {
  const browser = await PushBrowser.open();
  const { id } = await person.post<PushSubscriptionView>("/v1/push/subscriptions", {
    ...browser.subscription,
    ...more,
  });
  return { browser, id };
}

export async function pushOf(person: Person): Promise<PushView> {
  const response = await person.ask("/v1/push");
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response.json();
}

export function patch(person: Person, path: string, body: unknown): Promise<Response> {
  return person.ask(path, { ...json(body), method: "PATCH" });
}

/** So much later, and the account's alarm has rung. Only `Date` may be faked. */
export async function later(person: Person, seconds: number): Promise<void> {
  vi.setSystemTime(Date.now() + seconds * 1000);
  await runDurableObjectAlarm(env.ACCOUNT.getByName(person.account));
}

async function hmac(key: Uint8Array, ...parts: readonly (Uint8Array | number[])[]): Promise<Uint8Array> {
  const imported = await crypto.subtle.importKey("raw", key, HMAC, false, ["sign"]);
  const content = Uint8Array.from(parts.flatMap((part) => [...part]));
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, content));
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

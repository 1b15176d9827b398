/** Talking to the Worker as its users do: by request, as a signed-in person or with a token. */
import { env } from "cloudflare:workers";
import type { Effect } from "@matrx/shared/effects.ts";
import type { AccountId } from "@matrx/shared/ids.ts";
import type { claimSchema, SessionKey, SignedIn } from "@matrx/shared/session-api.ts";
import type { ChangedToken, NewToken, TokenDetails, TokenView } from "@matrx/shared/token-api.ts";
import { SignJWT } from "jose";
import type * as z from "zod";
import { noteAccount } from "../../../worker/known-accounts.ts";
import { Browser } from "./browser.ts";
import { ask, ORIGIN } from "./request.ts";

type ClaimBody = z.infer<typeof claimSchema>;

/** A sign-in link's code. */
export function claimCode(account: string, secret: string = env.CLAIM_SECRET ?? ""): Promise<string> {
  return new SignJWT({})
    .setProtectedHeader({ alg: "HS256" })
    .setAudience("matrx:claim")
    .setSubject(account)
    .setJti(crypto.randomUUID())
    .setIssuedAt()
    .setExpirationTime("1h")
    .sign(new TextEncoder().encode(secret));
}

/** Makes an account, as the first sign-in to it does: a link alone makes none. */
export function addAccount(account: string): Promise<void> {
  return noteAccount(env, account as AccountId);
}

/** The body of a claim, as a page sends it. */
export async function claimWith(code: string, key?: SessionKey): Promise<ClaimBody> {
  return { code, key: key ?? (await Browser.open()).publicKey };
}

/** A person's browser, signed in. Its access token is renewed when it has ended. */
export class Person {
  readonly account: string;
  readonly cookie: string;
  readonly browser: Browser;
  #access: SignedIn;
  #until = 0;

  private constructor(browser: Browser, cookie: string, access: SignedIn) {
    this.browser = browser;
    this.account = access.account;
    this.cookie = cookie;
    this.#access = access;
    this.#keep(access);
  }

  static async signIn(account: string = `person-${crypto.randomUUID().slice(0, 8)}`): Promise<Person> {
    await addAccount(account);
    return Person.signInBy("/v1/claim", { code: await claimCode(account) });
  }

  /** Signs a new browser in by one of the routes for it. */
  static async signInBy(path: string, body: object): Promise<Person> {
    const browser = await Browser.open();
    const response = await ask(path, json({ ...body, key: browser.publicKey }));
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    const cookie = (response.headers.get("Set-Cookie") ?? "").split(";")[0] ?? "";
    return new Person(browser, cookie, await response.json());
  }

  /** The latest access token. */
  get accessToken(): string {
    return this.#access.access_token;
  }

  async ask(path: string, init: RequestInit = {}): Promise<Response> {
    if (Date.now() >= this.#until) await this.renew();
    const own = { ...bearer(this.accessToken), Origin: ORIGIN };
    return ask(path, { ...init, headers: { ...own, ...(init.headers as Record<string, string>) } });
  }

  /** Trades the cookie and a proof of the key for another access token. If it is refused, the old one stays. */
  async renew(): Promise<Response> {
    const response = await this.browser.refresh({ Cookie: this.cookie, Origin: ORIGIN });
    if (response.ok) this.#keep(await response.clone().json());
    return response;
  }

  #keep(access: SignedIn): void {
    this.#access = access;
    this.#until = Date.now() + access.expires_in * 1000;
  }

  async post<Body>(path: string, body: unknown): Promise<Body> {
    const response = await this.ask(path, json(body));
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json<Body>();
  }

  /** A token: "full" without folders is an own script token, everything else an AI grant that asks nothing. */
  token({
    access,
    paths = null,
    devices,
  }: {
    access: "full" | "read";
    devices?: string[];
    paths?: string[] | null;
  }): Promise<{ token: string; id: string }> {
    if (access === "full" && !paths) return this.grant({ credential: "script", devices });
    const effects: Effect[] = access === "full" ? ["read", "write", "execute"] : ["read"];
    return this.grant({ effects, paths, devices, ask: [], secrets: "open" });
  }

  /** A token as `POST /v1/tokens` makes it. */
  grant(wish: Partial<NewToken>): Promise<{ token: string } & TokenView> {
    return this.post("/v1/tokens", { name: "test", ...wish });
  }

  /** `PATCH /v1/tokens/{grant}` */
  async change(grant: string, change: ChangedToken): Promise<TokenDetails> {
    const response = await this.ask(`/v1/tokens/${grant}`, { ...json(change), method: "PATCH" });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return response.json();
  }

  async details(grant: string): Promise<TokenDetails> {
    return (await this.ask(`/v1/tokens/${grant}`)).json();
  }

  /** A bare device: its id and its token. */
  async bareDevice(name = "bare"): Promise<{ id: string; token: string }> {
    const { device, token } = await this.post<{ device: { id: string }; token: string }>("/v1/devices", {
      name,
    });
    return { id: device.id, token };
  }

  rename(device: string, name: string): Promise<Response> {
    return this.ask(`/v1/devices/${device}`, { ...json({ name }), method: "PATCH" });
  }

  tag(device: string, tags: string[]): Promise<Response> {
    return this.ask(`/v1/devices/${device}`, { ...json({ tags }), method: "PATCH" });
  }

  setPolicy(device: string, policy: unknown): Promise<Response> {
    return this.ask(`/v1/devices/${device}/policy`, { ...json(policy), method: "PUT" });
  }
}

/** A POST of JSON. */
export function json(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", ...headers },
  };
}

export function bearer(token: string): Record<string, string> {
  return { Authorization: `Bearer ${token}` };
}

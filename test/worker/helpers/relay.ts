/** Talking to the Worker as its users do: by request, as a signed-in person or with a token. */
import { env, exports } from "cloudflare:workers";
import type { Effect } from "@matrx/shared/effects.ts";
import type { ChangedToken, NewToken, TokenDetails, TokenView } from "@matrx/shared/token-api.ts";
import { SignJWT } from "jose";

export const ORIGIN = "http://relay.test";

/** One request to the Worker. */
export function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return exports.default.fetch(new Request(`${ORIGIN}${path}`, init));
}

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

/** A person's browser, signed in. */
export class Person {
  readonly account: string;
  readonly cookie: string;

  private constructor(account: string, cookie: string) {
    this.account = account;
    this.cookie = cookie;
  }

  static async signIn(account: string = `person-${crypto.randomUUID().slice(0, 8)}`): Promise<Person> {
    const response = await ask("/v1/claim", json({ code: await claimCode(account) }));
    if (response.status !== 200) throw new Error(`claim: ${response.status} ${await response.text()}`);
    return new Person(account, (response.headers.get("Set-Cookie") ?? "").split(";")[0] ?? "");
  }

  ask(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { Cookie: this.cookie, Origin: ORIGIN, ...(init.headers as Record<string, string>) };
    return ask(path, { ...init, headers });
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

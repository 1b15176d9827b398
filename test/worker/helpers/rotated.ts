/** The same relay after its keys were rotated, and a thief who has the old ones. */
import { createExecutionContext, env } from "cloudflare:test";
import { AUDIENCE } from "@matrx/shared/tokens.ts";
import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTHeaderParameters, SignJWT } from "jose";
import app from "../../../worker/index.ts";
import { bearer } from "./relay.ts";
import { ORIGIN } from "./request.ts";

const [OLD] = (JSON.parse(env.RELAY_KEYS ?? "") as { keys: [JWK] }).keys;

async function makeKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair("EdDSA", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: crypto.randomUUID(), alg: "EdDSA", use: "sig" };
}

/** `RELAY_KEYS` with a new first key; `also` follows it. */
export async function newKeys(...also: object[]): Promise<string> {
  return JSON.stringify({ keys: [await makeKey(), ...also] });
}

/** The key that the tests' relay signs with, retired. */
export function retired(): object {
  const { d: _, ...half } = OLD;
  return { ...half, retired: "2026-11-22T12:00:00.000Z" };
}

/** Requests to the relay with other keys. */
export class Rotated {
  readonly #keys: string;
  /** The accounts whose objects the Worker has reached for. */
  readonly asked: string[] = [];

  constructor(keys: string) {
    this.#keys = keys;
  }

  /** As somebody from an address of their own: refusals are counted by address. */
  async ask(path: string, init: RequestInit = {}): Promise<Response> {
    const request = new Request(`${ORIGIN}${path}`, init);
    request.headers.set("CF-Connecting-IP", crypto.randomUUID());
    const { ACCOUNT } = env;
    const getByName: typeof ACCOUNT.getByName = (name) => {
      this.asked.push(name);
      return ACCOUNT.getByName(name);
    };
    const counted = new Proxy(ACCOUNT, {
      get: (all, name) => (name === "getByName" ? getByName : Reflect.get(all, name)),
    });
    const settings = { ...env, ACCOUNT: counted, RELAY_KEYS: this.#keys };
    return app.fetch(request, settings, createExecutionContext());
  }

  /** What becomes of a caller's token. */
  async status(token: string): Promise<number> {
    const response = await this.ask("/v1/account", { headers: bearer(token) });
    await response.arrayBuffer();
    return response.status;
  }
}

/** What a thief signs with the old key. */
export async function forge(
  { account, subject, id = crypto.randomUUID() }: { account: string; subject: string; id?: string },
  audience: string = AUDIENCE.caller,
  header: Partial<JWTHeaderParameters> = {},
): Promise<string> {
  return new SignJWT({ gid: subject })
    .setProtectedHeader({ alg: "EdDSA", typ: "JWT", kid: OLD.kid ?? "", ...header })
    .setIssuer("matrx-relay")
    .setAudience(audience)
    .setSubject(account)
    .setJti(id)
    .setIssuedAt()
    .setExpirationTime("90d")
    .sign(await importJWK(OLD, "EdDSA"));
}

/** An issuer that keeps to OpenID Connect, except where a test tells it to lie. */
import { base64url, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { ISSUERS } from "./issuers.ts";

/** What an issuer knows of a person. */
export interface PersonClaims {
  sub: string;
  email?: string;
  email_verified?: boolean | string;
}

/** A code that was given out, and for what. */
interface Given {
  person: PersonClaims;
  nonce: string;
  challenge: string;
  redirectUri: string;
}

interface SigningKey {
  sign: (claims: Record<string, unknown>) => Promise<string>;
  publicKey: JWK;
}

export class Issuer {
  readonly url: string;
  readonly #client: (typeof ISSUERS)[number];
  readonly #given = new Map<string, Given>();
  readonly #fresh = new Set<string>();
  #key: SigningKey;
  /** The keys at `jwks_uri`. */
  published: JWK[];
  /** Added to what it says of itself, to the ID token's claims, and to the answer of `/userinfo`. */
  metadata: Record<string, unknown> = {};
  claims: Record<string, unknown> = {};
  userinfo: Record<string, unknown> = {};
  /** Makes the ID token in place of its own key. */
  forge: ((claims: Record<string, unknown>) => Promise<string> | string) | undefined;
  /** Whether e-mail addresses are told by `/userinfo` only. */
  emailApart = false;
  /** Whether a code may be traded again. */
  forgetful = false;
  /** The paths that it was asked for. */
  asked: string[] = [];

  private constructor(id: string, key: SigningKey) {
    const client = ISSUERS.find((issuer) => issuer.id === id);
    if (!client) throw new Error(`no issuer ${id}`);
    this.#client = client;
    this.url = client.issuer;
    this.#key = key;
    this.published = [key.publicKey];
  }

  static async open(id: string): Promise<Issuer> {
    return new Issuer(id, await makeKey());
  }

  /** Takes another signing key. The old one is published no more. */
  async rotate(): Promise<void> {
    this.#key = await makeKey();
    this.published = [this.#key.publicKey];
  }

  /** A person signs in at `location`. Returns where the browser is sent. */
  signIn(location: string, person: PersonClaims): URL {
    const asked = new URL(location).searchParams;
    const text = (name: string) => asked.get(name) ?? "";
    const code = crypto.randomUUID();
    const challenge = text("code_challenge");
    this.#given.set(code, { person, nonce: text("nonce"), challenge, redirectUri: text("redirect_uri") });
    this.#fresh.add(code);
    const back = new URL(text("redirect_uri"));
    back.search = `${new URLSearchParams({ code, state: text("state"), iss: this.url })}`;
    return back;
  }

  /** Answers a request to one of its addresses. */
  async answer(request: Request): Promise<Response> {
    const path = request.url.slice(this.url.length);
    this.asked.push(path);
    if (path === "/.well-known/openid-configuration") return Response.json(this.#description());
    if (path === "/jwks") return Response.json({ keys: this.published });
    if (path === "/token") return this.#token(request);
    if (path === "/userinfo") return Response.json({ ...this.#personOf(request), ...this.userinfo });
    return new Response("nothing here", { status: 404 });
  }

  #description() {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      userinfo_endpoint: `${this.url}/userinfo`,
      jwks_uri: `${this.url}/jwks`,
      id_token_signing_alg_values_supported: ["ES256"],
      authorization_response_iss_parameter_supported: true,
      ...this.metadata,
    };
  }

  async #token(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text());
    if (!this.#isOurClient(request, form)) return Response.json({ error: "invalid_client" }, { status: 401 });
    const code = form.get("code") ?? "";
    const given = this.#given.get(code);
    const isGood =
      given &&
      (this.#fresh.delete(code) || this.forgetful) &&
      form.get("redirect_uri") === given.redirectUri &&
      (await challengeOf(form.get("code_verifier") ?? "")) === given.challenge;
    if (!isGood) return Response.json({ error: "invalid_grant" }, { status: 400 });
    const now = Math.floor(Date.now() / 1000);
    const told = this.emailApart ? { sub: given.person.sub } : given.person;
    const usual = { iss: this.url, aud: this.#client.client_id, iat: now, exp: now + 60, nonce: given.nonce };
    const claims = { ...usual, ...told, ...this.claims };
    const id_token = await (this.forge ?? this.#key.sign)(claims);
    return Response.json({ access_token: code, token_type: "Bearer", id_token });
  }

  #isOurClient(request: Request, form: URLSearchParams): boolean {
    const { client_id: id, client_secret: secret } = this.#client;
    if (!secret) return form.get("client_id") === id && !request.headers.has("Authorization");
    const basic = atob(request.headers.get("Authorization")?.replace("Basic ", "") ?? "");
    const [name, sent] = basic.split(":").map((part) => decodeURIComponent(part.replaceAll("+", " ")));
    return name === id && sent === secret;
  }

  #personOf(request: Request): PersonClaims | undefined {
    const token = request.headers.get("Authorization")?.replace("Bearer ", "") ?? "";
    return this.#given.get(token)?.person;
  }
}

export async function makeKey(): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const kid = crypto.randomUUID();
  const sign = (claims: Record<string, unknown>) =>
    new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid }).sign(privateKey);
  return { sign, publicKey: { ...(await exportJWK(publicKey)), kid, use: "sig", alg: "ES256" } };
}

async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return base64url.encode(new Uint8Array(digest));
}

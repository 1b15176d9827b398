/** An AI client that signs in by OAuth, step by step, so that a test can do each step wrongly. */
import { env, exports } from "cloudflare:workers";
import { base64url } from "jose";
import { expect } from "vitest";
import { mcpCaller } from "../../../worker/oauth/mcp-caller.ts";
import type { Person } from "../helpers/relay.ts";

/** OAuth needs TLS. */
export const RELAY = "https://relay.test";
export const CALLBACK = "http://127.0.0.1:4321/callback";

export interface Tokens {
  access_token: string;
  refresh_token: string;
  expires_in: number;
  scope: string;
}

/** A request to the relay by its https address. */
export function askRelay(path: string, init: RequestInit = {}): Promise<Response> {
  return exports.default.fetch(new Request(`${RELAY}${path}`, init));
}

/** What is wrong with an answer, as clients read it. */
export async function errorOf(response: Response): Promise<string> {
  return (await response.json<{ error: string }>()).error;
}

/** Who calls at a path with a token. */
export function whoCalls(token: string, path = "/mcp", origin = RELAY) {
  return mcpCaller(env, new Request(origin + path, { headers: { Authorization: `Bearer ${token}` } }));
}

export async function register(metadata: object = {}): Promise<Response> {
  return askRelay("/oauth/register", {
    method: "POST",
    headers: { "Content-Type": "application/json", "CF-Connecting-IP": crypto.randomUUID() },
    body: JSON.stringify({
      client_name: "Some assistant",
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: "none",
      ...metadata,
    }),
  });
}

export class Client {
  readonly id: string;
  readonly verifier = base64url.encode(crypto.getRandomValues(new Uint8Array(32)));

  constructor(id: string) {
    this.id = id;
  }

  static async register(metadata: object = {}): Promise<Client> {
    const response = await register(metadata);
    expect(response.status).toBe(201);
    return new Client((await response.json<{ client_id: string }>()).client_id);
  }

  /** The query with which it sends the browser to the relay. A value of undefined leaves a parameter out. */
  async request(changes: Record<string, string | undefined> = {}): Promise<string> {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(this.verifier));
    const all = {
      response_type: "code",
      client_id: this.id,
      redirect_uri: CALLBACK,
      code_challenge: base64url.encode(new Uint8Array(digest)),
      code_challenge_method: "S256",
      // Of each request its own, as of any real client.
      state: crypto.randomUUID(),
      scope: "mcp",
      resource: `${RELAY}/mcp`,
      ...changes,
    };
    const told = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return new URLSearchParams(told).toString();
  }

  /** The person lets it in. Returns where the browser goes. */
  async letIn(
    person: Person,
    device: string,
    { changes = {}, wish = {} }: { changes?: Record<string, string | undefined>; wish?: object } = {},
  ): Promise<URL> {
    const answer = await consent(person, await this.request(changes), { devices: [device], ...wish });
    expect(answer.status, await answer.clone().text()).toBe(200);
    return new URL((await answer.json<{ location: string }>()).location);
  }

  /** Trades the code at `location`. */
  trade(location: URL, changes: Record<string, string | undefined> = {}): Promise<Response> {
    return this.ask({
      grant_type: "authorization_code",
      code: location.searchParams.get("code") ?? "",
      redirect_uri: CALLBACK,
      code_verifier: this.verifier,
      ...changes,
    });
  }

  refresh({ refresh_token }: Tokens, changes: Record<string, string | undefined> = {}): Promise<Response> {
    return this.ask({ grant_type: "refresh_token", refresh_token, ...changes });
  }

  revoke(token: string): Promise<Response> {
    return this.ask({ token });
  }

  /** Asks the token endpoint. */
  ask(form: Record<string, string | undefined>): Promise<Response> {
    const told = Object.entries({ client_id: this.id, ...form });
    return askRelay("/oauth/token", {
      method: "POST",
      headers: { "CF-Connecting-IP": crypto.randomUUID() },
      body: new URLSearchParams(told.filter((entry): entry is [string, string] => entry[1] !== undefined)),
    });
  }

  /** All the way to its tokens. */
  async connect(
    person: Person,
    device: string,
    options: { changes?: Record<string, string | undefined>; wish?: object } = {},
  ): Promise<Tokens> {
    const response = await this.trade(await this.letIn(person, device, options));
    expect(response.status, await response.clone().text()).toBe(200);
    return response.json();
  }
}

/** What the page sends when a person lets a client in. */
export function consent(person: Person, request: string, wish: object = {}): Promise<Response> {
  const grant = { name: "my assistant", paths: ["~/projects"], effects: ["read"], ...wish };
  return post(person.accessToken, "/v1/oauth/consents", { request, grant });
}

/** A POST of the page's, with a token. */
export function post(token: string, path: string, body: object, origin = RELAY): Promise<Response> {
  return askRelay(path, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", Origin: origin },
    body: JSON.stringify(body),
  });
}

/** What a browser says when it goes to an address. */
export const NAVIGATION = { "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" };

/** The browser comes with a client's request. */
export function authorize(query: string, address: string = crypto.randomUUID()): Promise<Response> {
  return askRelay(`/authorize?${query}`, {
    redirect: "manual",
    headers: { ...NAVIGATION, "CF-Connecting-IP": address },
  });
}

export async function grantIds(person: Person): Promise<string[]> {
  const { tokens } = await (await person.ask("/v1/tokens")).json<{ tokens: { id: string }[] }>();
  return tokens.map(({ id }) => id);
}

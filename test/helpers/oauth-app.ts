/** An app on this machine that sends a browser to the relay and waits for its return. */
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { registeredClientSchema } from "../../shared/oauth-api.ts";

export interface OauthApp extends AsyncDisposable {
  readonly callback: string;
  /** Registers, with another address of its own if it has one. Returns its id. */
  register(name?: string, redirect?: string): Promise<string>;
  /** Where it sends the browser. */
  address(id: string, changes?: Record<string, string>): string;
  /** What the browser brought back, once it has. */
  readonly returned: Promise<URLSearchParams>;
  /** Trades a code. */
  trade(id: string, code: string): Promise<Response>;
  refresh(id: string, token: string): Promise<Response>;
}

export async function startOauthApp(relay: string): Promise<OauthApp> {
  const { promise: returned, resolve } = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
    response.setHeader("Content-Type", "text/html");
    response.end("<!doctype html><title>The app</title><h1>Back in the app</h1>");
    if (pathname === "/callback") resolve(searchParams);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const callback = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  const verifier = randomBytes(32).toString("base64url");
  return {
    callback,
    returned,
    register: async (name = "Some assistant", redirect = callback) => {
      const body = { client_name: name, redirect_uris: [redirect], token_endpoint_auth_method: "none" };
      const headers = { "Content-Type": "application/json" };
      const response = await fetch(`${relay}/oauth/register`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      return registeredClientSchema.parse(await response.json()).client_id;
    },
    address: (id, changes = {}) => {
      const query = new URLSearchParams({
        response_type: "code",
        client_id: id,
        redirect_uri: callback,
        code_challenge: createHash("sha256").update(verifier).digest("base64url"),
        code_challenge_method: "S256",
        state: "the state",
        resource: `${relay}/mcp`,
        ...changes,
      });
      return `${relay}/authorize?${query}`;
    },
    trade: (client_id, code) =>
      fetch(`${relay}/oauth/token`, {
        method: "POST",
        body: new URLSearchParams({
          grant_type: "authorization_code",
          client_id,
          code,
          redirect_uri: callback,
          code_verifier: verifier,
        }),
      }),
    refresh: (client_id, refresh_token) =>
      fetch(`${relay}/oauth/token`, {
        method: "POST",
        body: new URLSearchParams({ grant_type: "refresh_token", client_id, refresh_token }),
      }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

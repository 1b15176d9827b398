/** A real OpenID Connect provider on this machine, at which anyone signs in under any name. */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import Provider from "oidc-provider";
import type { Page } from "playwright-core";
import { listenAt } from "../../agent/local/loopback.ts";

export interface RealIssuer {
  readonly url: string;
  /** The entry of `oidc.json` for it. */
  readonly client: { client_id: string; client_secret: string };
  /** Lets it know the relay, to whose address people are sent back. */
  register(relay: string, id: string): void;
  stop(): Promise<void>;
}

/** Everybody's e-mail address is at `home.test`; only that of `eve` is not verified. */
const findAccount = (_: unknown, name: string) => ({
  accountId: name,
  claims: () => ({ sub: name, email: `${name}@home.test`, email_verified: name !== "eve" }),
});

export async function startIssuer(): Promise<RealIssuer> {
  const server = createServer();
  const port = await listenAt(server, "127.0.0.1", 0);
  const url = `http://127.0.0.1:${port}`;
  const client = { client_id: "relay", client_secret: randomBytes(32).toString("base64url") };
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = { ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig" };
  const register = (relay: string, id: string) => {
    const provider = new Provider(url, {
      clients: [
        {
          ...client,
          redirect_uris: [`${relay}/v1/sign-in/oidc/${id}/callback`],
          id_token_signed_response_alg: "ES256",
        },
      ],
      jwks: { keys: [key] },
      cookies: { keys: [randomBytes(16).toString("hex")] },
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: [] },
      enabledJWA: { idTokenSigningAlgValues: ["ES256"] },
      findAccount,
    });
    server.on("request", provider.callback());
  };
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url, client, register, stop };
}

/** Fills in the provider's pages: who one is, and that the relay may know. */
export async function signInThere(page: Page, name: string): Promise<void> {
  await page.getByPlaceholder("Enter any login").fill(name);
  await page.getByPlaceholder("and password").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
}

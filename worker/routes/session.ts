/** Signing in and out in a browser, and the access tokens of its pages. */
import { signInLinkSchema } from "@matrx/shared/api.ts";
import { readBody } from "@matrx/shared/caller/body.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { Grant } from "@matrx/shared/grant.ts";
import type { AccountId } from "@matrx/shared/ids.ts";
import {
  claimSchema,
  PROOF_NONCE_HEADER,
  revokedSessionsSchema,
  type SignedIn,
  signedInSchema,
} from "@matrx/shared/session-api.ts";
import { LIFETIME } from "@matrx/shared/tokens.ts";
import type { Context } from "hono";
import * as z from "zod";
import { countRefusal } from "../access/refused-credentials.ts";
import { accessFor, makeSessionToken, namedSession } from "../access/session.ts";
import { linkOrigin } from "../auth/address.ts";
import { makeClaimCode, signInLink, verifyClaim } from "../auth/claim.ts";
import { clearCookie, setCookie } from "../auth/cookie.ts";
import { unauthenticated } from "../auth/keys.ts";
import { makeNonce, thumbprintOf, verifyProof } from "../auth/session-proof.ts";
import { OPEN_BODY } from "../body.ts";
import { knownAccount, noteAccount } from "../known-accounts.ts";
import { unwrap } from "../outcome.ts";
import { problemResponse } from "../problem.ts";
import type { RelayEnv, RelayRoute } from "../route.ts";
import { browserName } from "./browser-name.ts";
import { qrCode } from "./qr-code.ts";

/** A session's public key. */
export const KEY = {
  kty: "EC",
  crv: "P-256",
  x: "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs",
  y: "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA",
} as const;

export const SIGNED_IN = { account: "owner", access_token: "eyJhbGciOiJFZERTQSJ9.e30.c2ln", expires_in: 300 };

const cookieHeader = {
  "Set-Cookie": { schema: z.string(), description: "The session's cookie", required: true },
};
export const nonceHeader = {
  [PROOF_NONCE_HEADER]: { schema: z.string(), description: "For the next proof; works once", required: true },
};

/** Of every way to sign in. */
export const SIGNED_IN_ANSWER = {
  description: "Signed in",
  schema: signedInSchema,
  example: SIGNED_IN,
  headers: { ...cookieHeader, ...nonceHeader },
};

/** Answers a browser that has signed in: the session's cookie, and the page's first access token. */
export async function signedIn(c: Context<RelayEnv>, grant: Grant): Promise<Response> {
  await noteAccount(c.env, grant.account);
  c.header("Set-Cookie", setCookie(c.env, c.req.raw, await makeSessionToken(c.env, grant)));
  return access(c, grant);
}

async function access(c: Context<RelayEnv>, grant: Grant): Promise<Response> {
  c.header("Cache-Control", "no-store");
  c.header(PROOF_NONCE_HEADER, await makeNonce(c.env));
  return c.json((await accessFor(c.env, grant)) satisfies SignedIn);
}

function noSuchAccount(account: string): MatrxError {
  return new MatrxError(
    unauthenticated(
      `This link is for the account ${account}, which nobody has ever signed in to`,
      "Make a link for an account of this relay",
    ),
  );
}

export const sessionRoutes: readonly RelayRoute[] = [
  {
    method: "POST",
    path: "/v1/claim",
    id: "claim",
    tag: "Account",
    summary: "Sign in with a link",
    description:
      "Exchanges the code of a sign-in link (made by `npm run link`) for a session of this browser, which is bound to `key`: the cookie is worth nothing without it. Works once.",
    access: "secret",
    body: { schema: claimSchema, example: { code: "eyJhbGciOiJIUzI1NiJ9.e30.c2ln", key: KEY } },
    answers: { 200: SIGNED_IN_ANSWER },
    errors: ["UNAUTHENTICATED", "UNAVAILABLE", "RATE_LIMITED"],
    answer: async (c) => {
      const { code, key } = await readBody(c.req.raw, OPEN_BODY, claimSchema);
      const claim = await verifyClaim(c.env, code);
      const account = await knownAccount(c.env, claim.account as AccountId);
      if (!account) throw noSuchAccount(claim.account);
      const session = { name: browserName(c.req.header("User-Agent")), key: await thumbprintOf(key) };
      return signedIn(c, unwrap(await account.claim(claim, session)));
    },
  },
  {
    method: "POST",
    path: "/v1/session",
    id: "refreshSession",
    tag: "Account",
    summary: "Get an access token",
    description:
      "For a browser's page, with its cookie and a proof of the session's key in the header `DPoP` (RFC 9449: ES256, `htm`, `htu`, `iat`, `jti`, and the `nonce` of the latest `DPoP-Nonce` header; without one, the 401 gives it).",
    access: "secret",
    answers: {
      200: {
        description: "The page's next access token",
        schema: signedInSchema,
        example: SIGNED_IN,
        headers: nonceHeader,
      },
    },
    errors: ["UNAUTHENTICATED", "UNAVAILABLE"],
    answer: async (c) => {
      try {
        const { account, grant } = await namedSession(c.env, c.req.raw);
        const proof = await verifyProof(c.env, c.req.raw);
        return await access(c, unwrap(await c.env.ACCOUNT.getByName(account).proveSession(grant, proof)));
      } catch (error) {
        const response = problemResponse(countRefusal(c.env, c.req.raw, error));
        if (response.status === 401) response.headers.set(PROOF_NONCE_HEADER, await makeNonce(c.env));
        return response;
      }
    },
  },
  {
    method: "POST",
    path: "/v1/sign-in-links",
    id: "createSignInLink",
    tag: "Account",
    summary: "Sign in another device",
    description: "The link signs in whoever opens it first, as this account, within 5 minutes.",
    access: "person",
    answers: {
      201: {
        description: "The link, and its QR code",
        schema: signInLinkSchema,
        example: {
          link: "https://relay.example/#claim=eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
          expires_in: 300,
          qr_svg: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 65 65"></svg>',
        },
      },
    },
    errors: ["UNAVAILABLE"],
    answer: async (c) => {
      const { caller } = c.var;
      unwrap(await c.env.ACCOUNT.getByName(caller.account).countLink(caller.grant));
      const seconds = LIFETIME.signInLink;
      const link = signInLink(
        linkOrigin(c.env, c.req.raw),
        await makeClaimCode(c.env, caller.account, seconds),
      );
      const qr_svg = await qrCode(link);
      c.header("Cache-Control", "no-store");
      return c.json({ link, expires_in: seconds, qr_svg } satisfies z.infer<typeof signInLinkSchema>, 201);
    },
  },
  {
    method: "POST",
    path: "/v1/sessions/revoke-others",
    id: "revokeOtherSessions",
    tag: "Account",
    summary: "Sign out everywhere else",
    description:
      "Ends every session of a browser or command line except the caller's, at once, and every sign-in link. Tokens, passkeys and recovery codes stay.",
    access: "person",
    answers: {
      200: { description: "Signed out", schema: revokedSessionsSchema, example: { revoked: 2 } },
    },
    answer: async (c) => {
      const { caller } = c.var;
      const revoked = unwrap(await c.env.ACCOUNT.getByName(caller.account).revokeOtherSessions(caller.grant));
      return c.json({ revoked } satisfies z.infer<typeof revokedSessionsSchema>);
    },
  },
  {
    method: "POST",
    path: "/v1/sign-out",
    id: "signOut",
    tag: "Account",
    summary: "Sign out",
    description: "Ends the caller's own grant: closes its connections and stops its calls.",
    access: "caller",
    answers: { 204: { description: "Signed out", headers: cookieHeader } },
    answer: async (c) => {
      const { caller } = c.var;
      unwrap(await c.env.ACCOUNT.getByName(caller.account).signOut(caller.grant));
      c.header("Set-Cookie", clearCookie(c.env, c.req.raw));
      return c.body(null, 204);
    },
  },
];

/** Ways to sign in, and the one by an issuer (OpenID Connect). */
import { readBody } from "@matrx/shared/caller/body.ts";
import {
  issuerFinishSchema,
  issuerStartedSchema,
  issuerStartSchema,
  signInMethodsSchema,
} from "@matrx/shared/sign-in-api.ts";
import type { Context } from "hono";
import * as z from "zod";
import { requireAnonymousRate } from "../access/anonymous-rate-limit.ts";
import { ownOrigin } from "../auth/address.ts";
import { accountFor } from "../auth/oidc/accounts.ts";
import { issuerOf, issuersOf } from "../auth/oidc/issuers.ts";
import { identityFrom, signInAddress } from "../auth/oidc/provider.ts";
import { beginSignIn, pendingSignIn } from "../auth/oidc/state.ts";
import { readProof, thumbprintOf } from "../auth/session-proof.ts";
import { OPEN_BODY } from "../body.ts";
import { unwrap } from "../outcome.ts";
import type { RelayEnv, RelayRoute } from "../route.ts";
import { browserName } from "./browser-name.ts";
import { KEY, SIGNED_IN_ANSWER, signedIn } from "./session.ts";

export const ISSUER_PARAMETER = {
  schema: z.string().min(1).max(32),
  description: "An issuer's id, as `GET /v1/sign-in` lists it",
  example: "home",
};

const RETURN_QUERY = {
  code: { schema: z.string(), description: "What the relay trades for the person's identity, once" },
  state: { schema: z.string(), description: "The relay's own name for the sign-in" },
  iss: { schema: z.string(), description: "The issuer (RFC 9207)" },
  error: { schema: z.string(), description: "Why nobody was signed in" },
};

export const signInRoutes: readonly RelayRoute[] = [
  {
    method: "GET",
    path: "/v1/sign-in",
    id: "listSignInMethods",
    tag: "Account",
    summary: "How can people sign in?",
    access: "anyone",
    answers: {
      200: {
        description: "What the page offers",
        schema: signInMethodsSchema,
        example: { passkeys: true, oidc: [{ id: "home", name: "Our home" }] },
      },
    },
    errors: ["UNAVAILABLE"],
    answer: (c) => {
      const oidc = issuersOf(c.env).map(({ id, name }) => ({ id, name }));
      return c.json({ passkeys: true, oidc } satisfies z.infer<typeof signInMethodsSchema>);
    },
  },
  {
    method: "POST",
    path: "/v1/sign-in/oidc/{issuer}",
    id: "startIssuerSignIn",
    tag: "Account",
    summary: "Begin to sign in at an issuer",
    description:
      "For the relay's page (OpenID Connect: authorization code, PKCE, nonce). Only the browser that holds the key can finish, within 10 minutes; nothing is stored.",
    access: "anyone",
    body: { schema: issuerStartSchema, example: { key: KEY } },
    answers: {
      200: {
        description: "Where to go",
        schema: issuerStartedSchema,
        example: { location: "https://id.example/authorize?response_type=code&client_id=matrx" },
      },
    },
    errors: ["NOT_FOUND", "UNAVAILABLE"],
    answer: async (c) => {
      const issuer = namedIssuer(c);
      const { key } = await readBody(c.req.raw, OPEN_BODY, issuerStartSchema);
      const pending = await beginSignIn(c.env, issuer.id, await thumbprintOf(key));
      const location = await signInAddress(c.env, issuer, pending, returnAddress(c, issuer.id));
      c.header("Cache-Control", "no-store");
      return c.json({ location } satisfies z.infer<typeof issuerStartedSchema>);
    },
  },
  {
    method: "GET",
    path: "/v1/sign-in/oidc/{issuer}/callback",
    id: "returnFromIssuer",
    tag: "Account",
    summary: "Where an issuer sends the browser back to",
    description:
      "Signs nobody in: it hands what the issuer said to the page, in the fragment, which no server is sent. The page of the browser that began finishes.",
    access: "anyone",
    query: RETURN_QUERY,
    answers: {
      303: {
        description: "To the page",
        headers: { Location: { schema: z.string(), description: "The page", required: true } },
      },
    },
    errors: ["NOT_FOUND", "UNAVAILABLE"],
    answer: (c) => {
      const { id } = namedIssuer(c);
      const response = new URL(c.req.url).search.slice(1);
      c.header("Cache-Control", "no-store");
      c.header("Referrer-Policy", "no-referrer");
      return c.redirect(`/#${new URLSearchParams({ oidc: id, response })}`, 303);
    },
  },
  {
    method: "POST",
    path: "/v1/sign-in/oidc/{issuer}/finish",
    id: "finishIssuerSignIn",
    tag: "Account",
    summary: "Finish signing in at an issuer",
    description:
      "With a proof of the key in the header `DPoP`, whose `nonce` is the `state` that the issuer sent back. Works once.",
    access: "secret",
    body: {
      schema: issuerFinishSchema,
      example: { response: "code=SplxlOBeZQQYbYS6WxSbIA&state=eyJhbGciOiJFZERTQSJ9.e30.c2ln" },
    },
    answers: { 200: SIGNED_IN_ANSWER },
    errors: ["UNAUTHENTICATED", "NOT_FOUND", "UNAVAILABLE", "RATE_LIMITED"],
    answer: async (c) => {
      const issuer = namedIssuer(c);
      const { response } = await readBody(c.req.raw, OPEN_BODY, issuerFinishSchema);
      const proof = await readProof(c.env, c.req.raw);
      const pending = await pendingSignIn(c.env, issuer.id, proof);
      await requireAnonymousRate(c.env, c.req.raw, "sign-in");
      const identity = await identityFrom(c.env, issuer, pending, {
        parameters: new URLSearchParams(response),
        redirectUri: returnAddress(c, issuer.id),
      });
      const account = await accountFor(issuer, identity);
      const session = { name: browserName(c.req.header("User-Agent")), key: proof.thumbprint };
      return signedIn(c, unwrap(await c.env.ACCOUNT.getByName(account).signInByIssuer(pending, session)));
    },
  },
];

function namedIssuer(c: Context<RelayEnv>) {
  return issuerOf(c.env, c.req.param("issuer") ?? "");
}

/** Where the issuer sends the browser back to: the origin at which the key is kept. */
function returnAddress(c: Context<RelayEnv>, issuer: string): string {
  return `${ownOrigin(c.env, c.req.raw)}/v1/sign-in/oidc/${issuer}/callback`;
}

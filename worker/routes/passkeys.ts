/** Passkeys: making and managing them as a signed-in person, and signing in with one. */
import { readBody } from "@matrx/shared/caller/body.ts";
import type { Parameter } from "@matrx/shared/openapi/operation.ts";
import {
  changedPasskeySchema,
  newPasskeySchema,
  PASSKEY_ALGORITHMS,
  type PasskeyView,
  passkeyCreationSchema,
  passkeyListSchema,
  passkeyRequestSchema,
  passkeySignInSchema,
  passkeyViewSchema,
} from "@matrx/shared/passkey-api.ts";
import * as z from "zod";
import {
  accountOfHandle,
  creationBegun,
  creationOf,
  passkeySite,
  requestOf,
  signInBegun,
} from "../auth/passkey-challenge.ts";
import { thumbprintOf } from "../auth/session-proof.ts";
import { unacceptablePasskeyError, unusablePasskeyError } from "../auth/sign-in-errors.ts";
import { CALLER_BODY, OPEN_BODY } from "../body.ts";
import { knownAccount } from "../known-accounts.ts";
import { unwrap } from "../outcome.ts";
import type { RelayRoute } from "../route.ts";
import { browserName } from "./browser-name.ts";
import { KEY, SIGNED_IN_ANSWER, signedIn } from "./session.ts";

const PASSKEY = "oWl1c2VyLXBhc3NrZXk";
const STATE = "eyJhbGciOiJFZERTQSJ9.e30.c2ln";
const CHALLENGE = "q1s8YdWmKk2eXo0nQ6v3uJ5b7zR4tF9hLcPgAiBxEyM";

/** In paths. */
export const PASSKEY_PARAMETER: Parameter = {
  schema: z.string(),
  description: "A passkey's id, as `GET /v1/passkeys` lists it",
  example: PASSKEY,
};

const VIEW: PasskeyView = {
  id: PASSKEY,
  name: "Ann's phone",
  host: "relay.example",
  synced: true,
  created: "2026-01-01T09:00:00.000Z",
  used: "2026-01-02T09:00:00.000Z",
};

const CREATED = {
  id: PASSKEY,
  rawId: PASSKEY,
  type: "public-key",
  response: {
    clientDataJSON: "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0",
    attestationObject: "o2NmbXRkbm9uZQ",
    transports: ["internal", "hybrid"],
  },
} as const;

const USED = {
  id: PASSKEY,
  rawId: PASSKEY,
  type: "public-key",
  response: {
    clientDataJSON: "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0",
    authenticatorData: "SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MdAAAAAA",
    signature: "MEUCIQ",
    userHandle: "b3duZXI",
  },
} as const;

export const passkeySignInRoutes: readonly RelayRoute[] = [
  {
    method: "POST",
    path: "/v1/sign-in/passkey/options",
    id: "beginPasskeySignIn",
    tag: "Account",
    summary: "Begin to sign in with a passkey",
    description:
      "For `navigator.credentials.get`, after `PublicKeyCredential.parseRequestOptionsFromJSON`. Nobody is named: the person chooses a passkey. Nothing is stored.",
    access: "anyone",
    answers: {
      200: {
        description: "The challenge",
        schema: passkeyRequestSchema,
        example: {
          state: STATE,
          options: {
            challenge: CHALLENGE,
            rpId: "relay.example",
            timeout: 300_000,
            userVerification: "required",
          },
        },
      },
    },
    errors: ["CONFLICT", "UNAVAILABLE"],
    answer: async (c) => {
      c.header("Cache-Control", "no-store");
      return c.json(await requestOf(c.env, passkeySite(c.env, c.req.raw)));
    },
  },
  {
    method: "POST",
    path: "/v1/sign-in/passkey",
    id: "signInWithPasskey",
    tag: "Account",
    summary: "Sign in with a passkey",
    description:
      "`credential` is what the authenticator signed (`toJSON()`), `key` what the session of this browser is bound to.",
    access: "secret",
    body: { schema: passkeySignInSchema, example: { state: STATE, credential: USED, key: KEY } },
    answers: { 200: SIGNED_IN_ANSWER },
    errors: ["UNAUTHENTICATED", "CONFLICT", "UNAVAILABLE", "RATE_LIMITED"],
    answer: async (c) => {
      const { state, credential, key } = await readBody(c.req.raw, OPEN_BODY, passkeySignInSchema);
      const ceremony = await signInBegun(c.env, passkeySite(c.env, c.req.raw), state);
      const named = accountOfHandle(credential.response.userHandle);
      const account = ceremony && named && (await knownAccount(c.env, named));
      if (!account) throw unusablePasskeyError();
      const session = { name: browserName(c.req.header("User-Agent")), key: await thumbprintOf(key) };
      return signedIn(c, unwrap(await account.signInWithPasskey(credential, ceremony, session)));
    },
  },
];

export const passkeysRoutes: readonly RelayRoute[] = [
  {
    method: "POST",
    path: "/v1/passkeys/options",
    id: "beginPasskey",
    tag: "Passkeys",
    summary: "Begin to make a passkey",
    description:
      "For `navigator.credentials.create`, after `PublicKeyCredential.parseCreationOptionsFromJSON`. Only the same session can finish it.",
    access: "person",
    answers: {
      200: {
        description: "The challenge",
        schema: passkeyCreationSchema,
        example: {
          state: STATE,
          options: {
            rp: { id: "relay.example", name: "Matrx Relay" },
            user: { id: "b3duZXI", name: "owner", displayName: "owner" },
            challenge: CHALLENGE,
            pubKeyCredParams: PASSKEY_ALGORITHMS.map((alg) => ({ type: "public-key", alg })),
            timeout: 300_000,
            excludeCredentials: [],
            authenticatorSelection: {
              residentKey: "required",
              requireResidentKey: true,
              userVerification: "required",
            },
            attestation: "none",
          },
        },
      },
    },
    errors: ["CONFLICT"],
    answer: async (c) => {
      const { caller } = c.var;
      const site = passkeySite(c.env, c.req.raw);
      const user = unwrap(await c.env.ACCOUNT.getByName(caller.account).beginPasskey(caller.grant));
      c.header("Cache-Control", "no-store");
      return c.json(await creationOf(c.env, site, caller, user));
    },
  },
  {
    method: "POST",
    path: "/v1/passkeys",
    id: "createPasskey",
    tag: "Passkeys",
    summary: "Add a passkey",
    description: "`credential` is what the authenticator made (`toJSON()`).",
    access: "person",
    body: { schema: newPasskeySchema, example: { state: STATE, credential: CREATED, name: VIEW.name } },
    answers: {
      201: { description: "The passkey", schema: passkeyViewSchema, example: { ...VIEW, used: null } },
    },
    errors: ["CONFLICT"],
    answer: async (c) => {
      const { caller } = c.var;
      const { state, credential, name } = await readBody(c.req.raw, CALLER_BODY, newPasskeySchema);
      const ceremony = await creationBegun(c.env, passkeySite(c.env, c.req.raw), caller, state);
      if (!ceremony) throw unacceptablePasskeyError();
      const made = { name: name ?? browserName(c.req.header("User-Agent")), ceremony };
      const account = c.env.ACCOUNT.getByName(caller.account);
      return c.json(unwrap(await account.addPasskey(caller.grant, credential, made)), 201);
    },
  },
  {
    method: "GET",
    path: "/v1/passkeys",
    id: "listPasskeys",
    tag: "Passkeys",
    summary: "List the account's passkeys",
    access: "person",
    answers: {
      200: { description: "Passkeys", schema: passkeyListSchema, example: { passkeys: [VIEW] } },
    },
    answer: async (c) => {
      const { caller } = c.var;
      const account = c.env.ACCOUNT.getByName(caller.account);
      return c.json({ passkeys: unwrap(await account.listPasskeys(caller.grant)) });
    },
  },
  {
    method: "PATCH",
    path: "/v1/passkeys/{passkey}",
    id: "renamePasskey",
    tag: "Passkeys",
    summary: "Rename a passkey",
    access: "person",
    body: { schema: changedPasskeySchema, example: { name: VIEW.name } },
    answers: { 200: { description: "The passkey", schema: passkeyViewSchema, example: VIEW } },
    errors: ["NOT_FOUND"],
    answer: async (c) => {
      const { caller } = c.var;
      const { name } = await readBody(c.req.raw, CALLER_BODY, changedPasskeySchema);
      const account = c.env.ACCOUNT.getByName(caller.account);
      return c.json(unwrap(await account.renamePasskey(caller.grant, c.req.param("passkey") ?? "", name)));
    },
  },
  {
    method: "DELETE",
    path: "/v1/passkeys/{passkey}",
    id: "removePasskey",
    tag: "Passkeys",
    summary: "Remove a passkey",
    description:
      "It signs nobody in any more. Sessions that it signed in go on: `POST /v1/sessions/revoke-others` ends them.",
    access: "person",
    answers: { 204: { description: "Removed" } },
    errors: ["NOT_FOUND"],
    answer: async (c) => {
      const { caller } = c.var;
      const account = c.env.ACCOUNT.getByName(caller.account);
      unwrap(await account.removePasskey(caller.grant, c.req.param("passkey") ?? ""));
      return c.body(null, 204);
    },
  },
];

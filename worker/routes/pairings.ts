/** Pairing a device and signing a command line in: a code, confirmed by a signed-in person (RFC 8628 pattern). */
import {
  newLoginSchema,
  newPairingSchema,
  pairingViewSchema,
  polledPairingSchema,
  pollPairingSchema,
  startedPairingSchema,
} from "@matrx/shared/api.ts";
import { readBody } from "@matrx/shared/caller/body.ts";
import { DEVICE } from "@matrx/shared/caller/parts.ts";
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import { type AccountId, type GrantId, hexOf, randomBase32 } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { confirmedPairingSchema } from "@matrx/shared/openapi/bodies.ts";
import type { Answer, Parameter } from "@matrx/shared/openapi/operation.ts";
import { AUDIENCE } from "@matrx/shared/tokens.ts";
import type { Context } from "hono";
import * as z from "zod";
import { requireAnonymousRate } from "../access/anonymous-rate-limit.ts";
import { issueToken } from "../access/lasting-tokens.ts";
import { linkOrigin } from "../auth/address.ts";
import { signToken, unauthenticated, verifyToken } from "../auth/keys.ts";
import { OPEN_BODY } from "../body.ts";
import type { Env } from "../env.ts";
import { type PairingAnswer, type PairingWish, pairingOf } from "../objects/pairing.ts";
import { type Outcome, unwrap } from "../outcome.ts";
import type { RelayEnv, RelayRoute } from "../route.ts";

const POLL_SECONDS = 2;

const CODE = "7K2M-9XQP";

const started: Answer = {
  description: "Show the code; poll with the secret",
  schema: startedPairingSchema,
  example: {
    code: CODE,
    secret: "eyJhbGciOiJFZERTQSJ9.e30.c2ln",
    verification_uri: `https://relay.example/#pair=${CODE}`,
    expires_in: 600,
    interval: 2,
  },
};

/** In paths. */
export const CODE_PARAMETER: Parameter = {
  schema: z.string(),
  description: "The code that the machine or the command line shows; dashes and case don't matter",
  example: CODE,
};

export const pairingsRoutes: readonly RelayRoute[] = [
  {
    method: "POST",
    path: "/v1/pairings",
    id: "startPairing",
    tag: "Pairing",
    summary: "Start pairing a machine",
    access: "anyone",
    body: {
      schema: newPairingSchema,
      example: {
        name: "laptop",
        hostname: "ann-laptop",
        os: "Linux",
        os_version: "Debian GNU/Linux 13",
        public_key: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
      },
    },
    answers: { 201: started },
    errors: ["RATE_LIMITED", "UNAVAILABLE"],
    answer: async (c) => {
      const device = await readBody(c.req.raw, OPEN_BODY, newPairingSchema);
      await requireAnonymousRate(c.env, c.req.raw, "pairing");
      return start(c.env, c.req.raw, {
        kind: "device",
        device,
        fingerprint: await fingerprintOf(device.public_key),
      });
    },
  },
  {
    method: "POST",
    path: "/v1/logins",
    id: "startLogin",
    tag: "Pairing",
    summary: "Start signing in a command line",
    access: "anyone",
    body: { schema: newLoginSchema, example: { name: "matrx on ann-laptop" } },
    answers: { 201: started },
    errors: ["RATE_LIMITED", "UNAVAILABLE"],
    answer: async (c) => {
      const { name } = await readBody(c.req.raw, OPEN_BODY, newLoginSchema);
      await requireAnonymousRate(c.env, c.req.raw, "login");
      return start(c.env, c.req.raw, { kind: "login", name });
    },
  },
  {
    method: "GET",
    path: "/v1/pairings/{code}",
    id: "getPairing",
    tag: "Pairing",
    summary: "What is this code for?",
    description: "After five wrong codes in ten minutes, all are refused for a while.",
    access: "person",
    answers: {
      200: {
        description: "Who is asking; compare it with what the machine shows",
        schema: pairingViewSchema,
        example: {
          kind: "device",
          name: "laptop",
          hostname: "ann-laptop",
          os: "Linux",
          os_version: "Debian GNU/Linux 13",
          fingerprint: "5b2f 0c9e 7d41 a8e3 1f60 92bc 44d7 0e5a",
          expires: "2026-02-12T10:40:00.000Z",
        },
      },
    },
    errors: ["NOT_FOUND", "RATE_LIMITED"],
    // Shows what is waiting for confirmation. Wrong codes are counted.
    answer: async (c) => {
      const { code, pairing, settle } = await guessing(c);
      return c.json(await settle(await pairing.view(code)));
    },
  },
  {
    method: "POST",
    path: "/v1/pairings/{code}/confirm",
    id: "confirmPairing",
    tag: "Pairing",
    summary: "Approve",
    access: "person",
    answers: {
      200: {
        description: "The machine is now a device of the account, or the command line is signed in",
        schema: confirmedPairingSchema,
        example: { name: "laptop", device: DEVICE },
      },
    },
    errors: ["NOT_FOUND", "RATE_LIMITED", "CONFLICT"],
    answer: async (c) => {
      const { caller, code, pairing, settle } = await guessing(c);
      const wish = await settle(await pairing.take(code));
      const account = c.env.ACCOUNT.getByName(caller.account);
      if (wish.kind === "login") {
        const grant = unwrap(await account.createLogin(caller.grant, wish.name));
        const { id, expires } = grant;
        await pairing.answer(code, { kind: "login", account: caller.account, grant: id, expires });
        return c.json({ name: wish.name });
      }
      const { name, public_key } = wish.device;
      const { id } = unwrap(
        await account.addDevice(caller.grant, name, { kind: "agent", publicKey: public_key }),
      );
      await pairing.answer(code, { kind: "device", account: caller.account, device: id, name });
      return c.json({ name, device: id });
    },
  },
  {
    method: "POST",
    path: "/v1/pairings/{code}/poll",
    id: "pollPairing",
    tag: "Pairing",
    summary: "Has it been approved?",
    description: "For the program that started it; ask every `interval` seconds.",
    access: "secret",
    body: { schema: pollPairingSchema, example: { secret: "eyJhbGciOiJFZERTQSJ9.e30.c2ln" } },
    answers: {
      200: {
        description: "Pending, or the result; a token is shown only once",
        schema: polledPairingSchema,
        example: { status: "paired", device_id: DEVICE, name: "laptop", account: "owner" },
      },
    },
    errors: ["NOT_FOUND", "UNAUTHENTICATED", "UNAVAILABLE", "RATE_LIMITED"],
    answer: async (c) => {
      const { secret } = await readBody(c.req.raw, OPEN_BODY, pollPairingSchema);
      const { subject } = await verifyToken(c.env, AUDIENCE.pairing, secret);
      if (subject !== plain(c.req.param("code") ?? ""))
        throw new MatrxError(unauthenticated("The secret belongs to another code"));
      const answer = unwrap(
        (await pairingOf(c.env.PAIRING, subject).poll(subject)) as Outcome<PairingAnswer | undefined>,
      );
      c.header("Cache-Control", "no-store");
      return c.json(await polled(c.env, answer));
    },
  },
];

async function start(env: Env, request: Request, wish: PairingWish): Promise<Response> {
  const code = await openCode(env, wish);
  const shown = `${code.slice(0, 4)}-${code.slice(4)}`;
  const seconds = TIMES.pairing / 1000;
  const names = { account: "-", subject: code, id: crypto.randomUUID() };
  const started = {
    code: shown,
    secret: await signToken(env, AUDIENCE.pairing, names, seconds),
    verification_uri: `${linkOrigin(env, request)}/#pair=${shown}`,
    expires_in: seconds,
    interval: POLL_SECONDS,
  };
  return Response.json(started, { status: 201, headers: { "Cache-Control": "no-store" } });
}

async function openCode(env: Env, wish: PairingWish): Promise<string> {
  for (;;) {
    const code = randomBase32(8).toUpperCase();
    if (unwrap(await pairingOf(env.PAIRING, code).open(code, wish))) return code;
  }
}

/** A signed-in person names a code. Each counts against five in ten minutes before it is looked up; a correct one is given back. */
async function guessing({ env, req, var: { caller } }: Context<RelayEnv>) {
  const code = plain(req.param("code") ?? "");
  const account = env.ACCOUNT.getByName(caller.account);
  const guess = unwrap(await account.takeGuess(caller.grant));
  const settle = async <Value>(outcome: Outcome<Value>): Promise<Value> => {
    if (outcome.ok) await account.giveBackGuess(guess);
    return unwrap(outcome);
  };
  return { caller, code, pairing: pairingOf(env.PAIRING, code), settle };
}

async function polled(
  env: Env,
  answer: PairingAnswer | undefined,
): Promise<z.infer<typeof polledPairingSchema>> {
  if (!answer) return { status: "pending" };
  if (answer.kind === "device")
    return { status: "paired", device_id: answer.device, name: answer.name, account: answer.account };
  const { account, grant, expires } = answer;
  const token = await issueToken(env, {
    account: account as AccountId,
    id: grant as GrantId,
    expires,
  });
  return { status: "signed_in", token, account, expires: new Date(expires).toISOString() };
}

/** The stored form: eight base32 characters, with confusable ones corrected. */
function plain(shown: string): string {
  const code = shown
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, "")
    .replaceAll("O", "0")
    .replace(/[IL]/g, "1");
  if (/^[0-9A-Z]{8}$/.test(code)) return code;
  throw relayError("NOT_FOUND", "A code has eight letters and digits", {
    hint: "Type the code that the machine shows",
  });
}

/** SHA-256 of the key's 32 bytes, the first 16 in groups of four digits; the device shows the same. */
async function fingerprintOf(publicKey: string): Promise<string> {
  const key = Uint8Array.from(atob(publicKey.replaceAll("-", "+").replaceAll("_", "/")), (char) =>
    char.charCodeAt(0),
  );
  const digest = await crypto.subtle.digest("SHA-256", key);
  return hexOf(new Uint8Array(digest, 0, 16)).replace(/(.{4})(?=.)/g, "$1 ");
}

/** Pairing a device and signing a command line in: a code, confirmed by a signed-in person (RFC 8628 pattern). */
import {
  newLoginSchema,
  newPairingSchema,
  type polledPairingSchema,
  pollPairingSchema,
} from "@matrx/shared/api.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { hexOf, randomBase32 } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { AUDIENCE } from "@matrx/shared/tokens.ts";
import { Hono } from "hono";
import type * as z from "zod";
import { linkOrigin } from "../auth/address.ts";
import { requireAnonymousRate } from "../auth/anonymous-rate-limit.ts";
import { authenticate } from "../auth/caller.ts";
import { signToken, unauthenticated, verifyToken } from "../auth/keys.ts";
import type { Env } from "../env.ts";
import { type PairingAnswer, type PairingWish, pairingOf } from "../objects/pairing.ts";
import { type Outcome, unwrap } from "../outcome.ts";
import { readOpenBody } from "./body.ts";

export const pairings = new Hono<{ Bindings: Env }>();

const POLL_SECONDS = 2;

pairings.post("/pairings", async (c) => {
  const device = await readOpenBody(c.req.raw, newPairingSchema);
  await requireAnonymousRate(c.env, c.req.raw);
  return start(c.env, c.req.raw, {
    kind: "device",
    device,
    fingerprint: await fingerprintOf(device.public_key),
  });
});

pairings.post("/logins", async (c) => {
  const { name } = await readOpenBody(c.req.raw, newLoginSchema);
  await requireAnonymousRate(c.env, c.req.raw);
  return start(c.env, c.req.raw, { kind: "login", name });
});

/** What waits for confirmation. Wrong codes are counted. */
pairings.get("/pairings/:code", async (c) => {
  const { code, pairing, settle } = await guessing(c.env, c.req.raw, c.req.param("code"));
  return c.json(await settle(await pairing.view(code)));
});

pairings.post("/pairings/:code/confirm", async (c) => {
  const { caller, code, pairing, settle } = await guessing(c.env, c.req.raw, c.req.param("code"));
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
});

pairings.post("/pairings/:code/poll", async (c) => {
  const { secret } = await readOpenBody(c.req.raw, pollPairingSchema);
  const { subject } = await verifyToken(c.env, AUDIENCE.pairing, secret);
  if (subject !== plain(c.req.param("code")))
    throw new MatrxError(unauthenticated("The secret belongs to another code"));
  const answer = unwrap(
    (await pairingOf(c.env.PAIRING, subject).poll(subject)) as Outcome<PairingAnswer | undefined>,
  );
  c.header("Cache-Control", "no-store");
  return c.json(await polled(c.env, answer));
});

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

/** A signed-in person names a code. It counts against five in ten minutes before it is looked at, until it proves right. */
async function guessing(env: Env, request: Request, shown: string) {
  const caller = await authenticate(env, request);
  const code = plain(shown);
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
  const seconds = Math.floor((expires - Date.now()) / 1000);
  const token = await signToken(
    env,
    AUDIENCE.caller,
    { account, subject: grant, id: crypto.randomUUID() },
    seconds,
  );
  return { status: "signed_in", token, account, expires: new Date(expires).toISOString() };
}

/** As stored: eight characters of base32, what people confuse put right. */
function plain(shown: string): string {
  const code = shown
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, "")
    .replaceAll("O", "0")
    .replace(/[IL]/g, "1");
  if (/^[0-9A-Z]{8}$/.test(code)) return code;
  throw new MatrxError({ code: "NOT_FOUND", message: "A code has eight letters and digits", hop: "relay" });
}

/** SHA-256 of the key's 32 bytes, the first 16 in groups of four digits; the device shows the same. */
async function fingerprintOf(publicKey: string): Promise<string> {
  const key = Uint8Array.from(atob(publicKey.replaceAll("-", "+").replaceAll("_", "/")), (char) =>
    char.charCodeAt(0),
  );
  const digest = await crypto.subtle.digest("SHA-256", key);
  return hexOf(new Uint8Array(digest, 0, 16)).replace(/(.{4})(?=.)/g, "$1 ");
}

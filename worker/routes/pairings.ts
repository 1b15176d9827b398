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
import { authenticate } from "../auth/caller.ts";
import { requireDoor } from "../auth/door.ts";
import { signToken, unauthenticated, verifyToken } from "../auth/keys.ts";
import type { Env } from "../env.ts";
import type { Pairing, PairingAnswer, PairingWish } from "../objects/pairing.ts";
import { type Outcome, unwrap } from "../outcome.ts";
import { readBody } from "./body.ts";

export const pairings = new Hono<{ Bindings: Env }>();

const POLL_SECONDS = 2;

pairings.post("/pairings", async (c) => {
  const device = await readBody(c.req.raw, newPairingSchema);
  await requireDoor(c.env, c.req.raw);
  return start(c.env, c.req.raw, {
    kind: "device",
    device,
    fingerprint: await fingerprintOf(device.public_key),
  });
});

pairings.post("/logins", async (c) => {
  const { name } = await readBody(c.req.raw, newLoginSchema);
  await requireDoor(c.env, c.req.raw);
  return start(c.env, c.req.raw, { kind: "login", name });
});

/** What waits for confirmation. Wrong codes are counted. */
pairings.get("/pairings/:code", async (c) => {
  const guess = await guessing(c.env, c.req.raw, c.req.param("code"));
  return c.json(await guess.settle(await guess.pairing.view()));
});

pairings.post("/pairings/:code/confirm", async (c) => {
  const { caller, pairing, settle } = await guessing(c.env, c.req.raw, c.req.param("code"));
  const wish = await settle(await pairing.take());
  const account = c.env.ACCOUNT.getByName(caller.account);
  if (wish.kind === "login") {
    const grant = unwrap(await account.createLogin(caller.grant, wish.name));
    await pairing.answer({ kind: "login", account: caller.account, grant: grant.id, expires: grant.expires });
    return c.json({ name: wish.name });
  }
  const { name, public_key } = wish.device;
  const { id } = unwrap(
    await account.addDevice(caller.grant, name, { kind: "agent", publicKey: public_key }),
  );
  await pairing.answer({ kind: "device", account: caller.account, device: id, name });
  return c.json({ name, device: id });
});

/** The secret proves the asker before the object of a made-up code is touched. */
pairings.post("/pairings/:code/poll", async (c) => {
  const { secret } = await readBody(c.req.raw, pollPairingSchema);
  const { subject } = await verifyToken(c.env, AUDIENCE.pairing, secret);
  if (subject !== plain(c.req.param("code")))
    throw new MatrxError(unauthenticated("The secret belongs to another code"));
  const answer = unwrap(
    (await c.env.PAIRING.getByName(subject).poll()) as Outcome<PairingAnswer | undefined>,
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
    verification_uri: `${new URL(request.url).origin}/#pair=${shown}`,
    expires_in: seconds,
    interval: POLL_SECONDS,
  };
  return Response.json(started, { status: 201, headers: { "Cache-Control": "no-store" } });
}

async function openCode(env: Env, wish: PairingWish): Promise<string> {
  for (;;) {
    const code = randomBase32(8).toUpperCase();
    if (await env.PAIRING.getByName(code).open(wish)) return code;
  }
}

/** A signed-in person names a code; one that is wrong counts against five in ten minutes. */
async function guessing(env: Env, request: Request, shown: string) {
  const caller = await authenticate(env, request);
  const account = env.ACCOUNT.getByName(caller.account);
  unwrap(await account.mayGuess(caller.grant));
  const pairing: DurableObjectStub<Pairing> = env.PAIRING.getByName(plain(shown));
  const settle = async <Value>(outcome: Outcome<Value>): Promise<Value> => {
    if (!outcome.ok) await account.noteWrongCode();
    return unwrap(outcome);
  };
  return { caller, pairing, settle };
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

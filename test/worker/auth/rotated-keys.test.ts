/** After the relay's keys were replaced: who keeps working, and what a thief of the old ones can still do. */
import { env, runInDurableObject } from "cloudflare:test";
import { deviceRegisterSchema } from "@matrx/shared/device-frames.ts";
import type { AccountId, DeviceId } from "@matrx/shared/ids.ts";
import { AUDIENCE } from "@matrx/shared/tokens.ts";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { hashOf } from "../../../worker/auth/token-hash.ts";
import type { DeviceAttachment } from "../../../worker/device/connection.ts";
import { requireProof } from "../../../worker/device/link/registration.ts";
import type { DeviceIdentity } from "../../../worker/device/store.ts";
import { Browser } from "../helpers/browser.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask, ORIGIN } from "../helpers/request.ts";
import { forge, newKeys, Rotated, retired } from "../helpers/rotated.ts";

let person: Person;
let rotated: string;
const relay = () => new Rotated(rotated);

beforeAll(async () => {
  person = await Person.signIn();
  rotated = await newKeys(retired());
});

async function loginToken(): Promise<string> {
  const begun = await ask("/v1/logins", json({ name: "cli" }, { "CF-Connecting-IP": crypto.randomUUID() }));
  const { code, secret } = await begun.json<{ code: string; secret: string }>();
  await person.post(`/v1/pairings/${code}/confirm`, {});
  const polled = await ask(`/v1/pairings/${code}/poll`, json({ secret }));
  return (await polled.json<{ token: string }>()).token;
}

const idOf = (token: string) => String(decodeJwt(token).jti);
const grantOf = (token: string) => String(decodeJwt(token).gid);

describe("whoever came by their token honestly goes on", () => {
  it("an AI grant, a script, and a command line", async () => {
    const tokens = [
      (await person.grant({ paths: null })).token,
      (await person.grant({ credential: "script" })).token,
      await loginToken(),
    ];
    for (const token of tokens) expect(await relay().status(token)).toBe(200);
  });

  it("and its account is asked once, not with each request", async () => {
    const after = relay();
    const { token } = await person.grant({ paths: null });
    const asked: number[] = [];
    for (let n = 0; n < 3; n++) {
      await after.status(token);
      asked.push(after.asked.splice(0).length);
    }
    expect(asked).toEqual([2, 1, 1]);
  });

  it("a page, by its cookie and its key, although all else that it had was signed by the old key", async () => {
    const after = relay();
    expect(await after.status(person.accessToken)).toBe(401);
    const headers = { Cookie: person.cookie, Origin: ORIGIN };
    const refused = await after.ask("/v1/session", {
      method: "POST",
      headers: { ...headers, DPoP: await person.browser.proof() },
    });
    expect(refused.status).toBe(401);
    const nonce = refused.headers.get("DPoP-Nonce") ?? "";
    const DPoP = await person.browser.proof({ nonce });
    const renewed = await after.ask("/v1/session", { method: "POST", headers: { ...headers, DPoP } });
    expect(renewed.status).toBe(200);
    const { access_token } = await renewed.json<{ access_token: string }>();
    expect(await after.status(access_token)).toBe(200);
  });

  it("a token that was revoked stays revoked", async () => {
    const { token, id } = await person.grant({ paths: null });
    expect((await person.ask(`/v1/tokens/${id}`, { method: "DELETE" })).status).toBe(204);
    expect(await relay().status(token)).toBe(401);
  });
});

describe("a thief of the old keys gets nowhere", () => {
  it("with the grant of somebody else's token, session or command line", async () => {
    const { token } = await person.grant({ credential: "script" });
    for (const subject of [grantOf(token), grantOf(person.accessToken), grantOf(await loginToken())]) {
      const forged = await forge({ account: person.account, subject });
      expect((await ask("/v1/account", { headers: bearer(forged) })).status).toBe(200);
      expect(await relay().status(forged)).toBe(401);
    }
  });

  it("with what the account keeps of the token, which is not its id", async () => {
    const { token } = await person.grant({ credential: "script" });
    const names = { account: person.account, subject: grantOf(token) };
    for (const id of [await hashOf(idOf(token)), "", "undefined", "null"])
      expect(await relay().status(await forge({ ...names, id }))).toBe(401);
    const other = await person.grant({ paths: null });
    expect(await relay().status(await forge({ ...names, id: idOf(other.token) }))).toBe(401);
  });

  it("with a name of the new key on an old signature, or with no name", async () => {
    const { token } = await person.grant({ paths: null });
    const names = { account: person.account, subject: grantOf(token), id: idOf(token) };
    const { kid } = JSON.parse(rotated).keys[0];
    for (const name of [kid, undefined])
      expect(await relay().status(await forge(names, AUDIENCE.caller, { kid: name }))).toBe(401);
  });

  it("with tickets, secrets of pairings and nonces, which are over in minutes anyway", async () => {
    const { account } = person;
    const after = relay();
    const ticket = await forge({ account, subject: "grant_x device-x 9999999999999" }, AUDIENCE.ticket);
    const upgrade = { headers: { Upgrade: "websocket" } };
    expect((await after.ask(`/v1/account/ws?ticket=${ticket}`, upgrade)).status).toBe(401);
    const secret = await forge({ account: "-", subject: "ABCDEFGH" }, AUDIENCE.pairing);
    expect((await after.ask("/v1/pairings/ABCDEFGH/poll", json({ secret }))).status).toBe(401);
    const nonce = await forge({ account: "relay", subject: "nonce" }, AUDIENCE.nonce);
    const DPoP = await person.browser.proof({ nonce });
    const headers = { Cookie: person.cookie, Origin: ORIGIN, DPoP };
    expect((await after.ask("/v1/session", { method: "POST", headers })).status).toBe(401);
  });

  it("with a cookie: it needs the key that only the browser has", async () => {
    const after = relay();
    const cookie = await forge(
      { account: person.account, subject: grantOf(person.accessToken) },
      AUDIENCE.web,
    );
    const headers = { Cookie: `matrx_session=${cookie}`, Origin: ORIGIN };
    const first = await after.ask("/v1/session", { method: "POST", headers });
    const nonce = first.headers.get("DPoP-Nonce") ?? "";
    const thief = await Browser.open();
    const DPoP = await thief.proof({ nonce });
    const answer = await after.ask("/v1/session", { method: "POST", headers: { ...headers, DPoP } });
    expect(answer.status).toBe(401);
  });

  it("and makes no objects by naming accounts that do not exist", async () => {
    const after = relay();
    const made = { account: `made-up-${crypto.randomUUID().slice(0, 8)}`, subject: "grant_x" };
    expect(await after.status(await forge(made))).toBe(401);
    const headers = {
      Cookie: `matrx_session=${await forge(made, AUDIENCE.web)}`,
      Origin: ORIGIN,
      DPoP: await (await Browser.open()).proof(),
    };
    expect((await after.ask("/v1/session", { method: "POST", headers })).status).toBe(401);
    expect(after.asked).toEqual([]);
  });
});

describe("a bare device", () => {
  const seen = { nonce: "", host: "relay.test" } as DeviceAttachment;

  /** Whether a device with this identity registers by a token, once the keys were rotated. */
  async function registers(identity: DeviceIdentity, token: string): Promise<boolean> {
    const account = person.account as AccountId;
    const record = { id: BARE, account, name: "bare", created: 0, identity };
    const frame = { type: "device_register", device_id: BARE, auth_token: `Bearer ${token}` };
    const settings = { ...env, RELAY_KEYS: rotated };
    return requireProof(settings, record, deviceRegisterSchema.parse(frame), seen).then(
      () => true,
      () => false,
    );
  }

  const BARE = "bare-4k7m2x9qpa" as DeviceId;
  const tokenFor = (id: string) => forge({ account: person.account, subject: BARE, id }, AUDIENCE.device);

  it("goes on with the token that it was given, and with no other", async () => {
    const id = crypto.randomUUID();
    const hash = await hashOf(id);
    expect(await registers({ kind: "bare", token: hash }, await tokenFor(id))).toBe(true);
    for (const other of [hash, crypto.randomUUID(), ""])
      expect(await registers({ kind: "bare", token: hash }, await tokenFor(other))).toBe(false);
  });

  it("from before hashes needs a new token: its record holds what a thief of the data needs", async () => {
    const id = crypto.randomUUID();
    expect(await registers({ kind: "bare", tokenId: id }, await tokenFor(id))).toBe(false);
  });
});

describe("the refusal", () => {
  it("of a token from before hashes were kept says what to do", async () => {
    const { token, id } = await person.grant({ paths: null });
    await runInDurableObject(env.ACCOUNT.getByName(person.account), (_, { storage }) =>
      storage.sql.exec("UPDATE grants SET may = json_remove(may, '$.token') WHERE id = ?", id),
    );
    const answer = await relay().ask("/v1/account", { headers: bearer(token) });
    expect([answer.status, await answer.json()]).toMatchObject([
      401,
      {
        code: "UNAUTHENTICATED",
        detail: expect.stringContaining("replaced"),
        hint: expect.stringContaining("new token"),
      },
    ]);
    expect((await ask("/v1/account", { headers: bearer(token) })).status).toBe(200);
  });

  it("is for all that the old key signed, once it was dropped", async () => {
    const { token } = await person.grant({ paths: null });
    const dropped = new Rotated(await newKeys());
    expect(await dropped.status(token)).toBe(401);
    const headers = { Cookie: person.cookie, Origin: ORIGIN, DPoP: await person.browser.proof() };
    expect((await dropped.ask("/v1/session", { method: "POST", headers })).status).toBe(401);
  });
});

describe("the keys", () => {
  it("that others verify with are those that are not retired", async () => {
    const { keys } = await (await relay().ask("/.well-known/jwks.json")).json<{ keys: { kid: string }[] }>();
    expect(keys).toEqual([{ ...keys[0], kid: JSON.parse(rotated).keys[0].kid }]);
    expect(keys[0]).not.toHaveProperty("d");
  });

  it("sign with the first; a second one that is not retired is as good, as in files from before", async () => {
    const [old] = JSON.parse(env.RELAY_KEYS ?? "").keys;
    const both = new Rotated(await newKeys(old));
    expect(await both.status(person.accessToken)).toBe(200);
    const headers = { Cookie: person.cookie, Origin: ORIGIN, DPoP: await person.browser.proof() };
    const answer = await both.ask("/v1/session", { method: "POST", headers });
    const { access_token } = await answer.json<{ access_token: string }>();
    expect(decodeProtectedHeader(access_token).kid).not.toBe(decodeProtectedHeader(person.accessToken).kid);
  });

  it.each([
    ["a retired key first", () => JSON.stringify({ keys: [retired()] })],
    [
      "a retired key that could still sign",
      () => newKeys({ ...JSON.parse(env.RELAY_KEYS ?? "").keys[0], ...retired() }),
    ],
    ["two keys of one name", () => newKeys(retired(), retired())],
    ["a retired key without a time", () => newKeys({ ...retired(), retired: true })],
    ["no key", () => '{"keys":[]}'],
  ])("are refused as a whole: %s", async (_, keys) => {
    const broken = new Rotated(await keys());
    expect((await broken.ask("/.well-known/jwks.json")).status).toBe(503);
    expect(await broken.status(person.accessToken)).toBe(503);
  });
});

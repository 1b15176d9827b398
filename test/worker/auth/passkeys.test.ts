/** A person makes passkeys and signs in with them; and what signs nobody in. */
import { evictDurableObject, listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { LIMITS } from "@matrx/shared/limits.ts";
import type { PasskeyView } from "@matrx/shared/passkey-api.ts";
import type { SignedIn } from "@matrx/shared/session-api.ts";
import { cose } from "@simplewebauthn/server/helpers";
import { base64url } from "jose";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Authenticator, FLAG, type Twist } from "../helpers/authenticator.ts";
import { Browser } from "../helpers/browser.ts";
import { ALGORITHMS } from "../helpers/passkey-algorithm.ts";
import { addPasskey, beginPasskey, beginSignIn, sendSignIn, signInWith } from "../helpers/passkeys.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask, ORIGIN } from "../helpers/request.ts";

afterEach(() => vi.useRealTimers());

const handleOf = (account: string) => base64url.encode(account);

async function passkeysOf(person: Person): Promise<PasskeyView[]> {
  const { passkeys } = await (await person.ask("/v1/passkeys")).json<{ passkeys: PasskeyView[] }>();
  return passkeys;
}

/** The same to everybody, whatever was wrong. */
async function expectRefused(response: Response): Promise<void> {
  expect(response.status).toBe(401);
  expect(response.headers.get("Set-Cookie")).toBeNull();
  expect(await response.json()).toMatchObject({
    code: "UNAUTHENTICATED",
    detail: "This passkey signs nobody in here",
    hop: "relay",
  });
}

describe("a person", () => {
  it("adds a passkey, signs in with it elsewhere, renames it and removes it", async () => {
    const person = await Person.signIn();
    const { authenticator, view } = await addPasskey(person);
    expect(view).toMatchObject({ id: authenticator.id, host: "relay.test", synced: false, used: null });

    const signedIn = await signInWith(authenticator);
    expect(signedIn.status).toBe(200);
    expect(signedIn.headers.get("Cache-Control")).toBe("no-store");
    expect(signedIn.headers.get("Set-Cookie")).toContain("matrx_session=");
    const { account, access_token } = await signedIn.json<SignedIn>();
    expect(account).toBe(person.account);
    const own = await ask("/v1/account", { headers: bearer(access_token) });
    expect(await own.json()).toMatchObject({ account: person.account, kind: "web", person: true });

    const [listed] = await passkeysOf(person);
    expect(listed?.used).toEqual(expect.any(String));
    const path = `/v1/passkeys/${authenticator.id}`;
    const renamed = await person.ask(path, { ...json({ name: "key on my ring" }), method: "PATCH" });
    expect(await renamed.json()).toMatchObject({ id: authenticator.id, name: "key on my ring" });
    expect((await person.ask(path, { method: "DELETE" })).status).toBe(204);
    expect(await passkeysOf(person)).toEqual([]);
    await expectRefused(await signInWith(authenticator));
    // Its session goes on, until it is ended.
    expect((await ask("/v1/account", { headers: bearer(access_token) })).status).toBe(200);
  });

  it("signs in by whichever of several passkeys, after the account's object has slept", async () => {
    const person = await Person.signIn();
    const { authenticator: phone } = await addPasskey(person);
    const { authenticator: key } = await addPasskey(person);
    await evictDurableObject(env.ACCOUNT.getByName(person.account));
    for (const authenticator of [phone, key]) expect((await signInWith(authenticator)).status).toBe(200);
  });

  it("gets a session that is bound to the key of the browser that signed in", async () => {
    const person = await Person.signIn();
    const { authenticator } = await addPasskey(person);
    const browser = await Browser.open();
    const { state, options } = await beginSignIn();
    const body = { state, credential: await authenticator.get(options), key: browser.publicKey };
    const response = await ask("/v1/sign-in/passkey", json(body));
    const Cookie = (response.headers.get("Set-Cookie") ?? "").split(";")[0] ?? "";
    const headers = { Cookie, Origin: ORIGIN };
    expect((await browser.refresh(headers)).status).toBe(200);
    expect((await (await Browser.open()).refresh(headers)).status).toBe(401);
  });

  it("is told which passkeys there are, so that an authenticator makes no second one", async () => {
    const person = await Person.signIn();
    const { authenticator } = await addPasskey(person);
    const { options } = await beginPasskey(person);
    expect(options).toMatchObject({
      rp: { id: "relay.test" },
      user: { id: handleOf(person.account) },
      excludeCredentials: [{ id: authenticator.id, type: "public-key", transports: ["internal"] }],
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      attestation: "none",
    });
    const { state, options: ignored } = await beginPasskey(person);
    const again = { state, credential: await authenticator.create({ ...ignored, excludeCredentials: [] }) };
    expect((await person.ask("/v1/passkeys", json(again))).status).toBe(409);
  });

  it.each(["EdDSA", "ES256", "RS256"] as const)("has passkeys that sign with %s", async (name) => {
    const person = await Person.signIn();
    const { options } = await beginPasskey(person);
    expect(options.pubKeyCredParams.map(({ alg }) => alg)).toContain(cose.COSEALG[name]);
    const { authenticator } = await addPasskey(
      person,
      await Authenticator.open({ algorithm: ALGORITHMS[name] }),
    );
    expect((await signInWith(authenticator)).status).toBe(200);
    const signedBy = await Authenticator.open({ algorithm: ALGORITHMS[name] });
    await expectRefused(await signInWith(authenticator, { signedBy }));
  });

  it("has a passkey named after the browser, and a name without hidden characters", async () => {
    const person = await Person.signIn();
    const { state, options } = await beginPasskey(person);
    const credential = await (await Authenticator.open()).create(options);
    const agent = { "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" };
    const made = await person.ask("/v1/passkeys", json({ state, credential }, agent));
    expect([made.status, await made.json()]).toMatchObject([201, { name: "Firefox on Linux" }]);
    const path = `/v1/passkeys/${credential.id}`;
    const renamed = await person.ask(path, { ...json({ name: "a\u202eb" }), method: "PATCH" });
    expect(await renamed.json()).toMatchObject({ name: "ab" });
  });

  it("may have so many passkeys, and no more", async () => {
    const person = await Person.signIn();
    for (let n = 0; n < LIMITS.passkeysPerAccount; n++) await addPasskey(person);
    const refused = await person.ask("/v1/passkeys/options", json({}));
    expect([refused.status, await refused.json()]).toMatchObject([429, { limit: LIMITS.passkeysPerAccount }]);
  });

  it("sees a synced passkey as one, whose counter stays at 0", async () => {
    const person = await Person.signIn();
    const flags = FLAG.present | FLAG.verified | FLAG.backupEligible | FLAG.backedUp;
    const { state, options } = await beginPasskey(person);
    const authenticator = await Authenticator.open();
    const credential = await authenticator.create(options, { flags });
    expect(await person.post("/v1/passkeys", { state, credential })).toMatchObject({ synced: true });
    for (const _ of ["first", "second"])
      expect((await signInWith(authenticator, { flags })).status).toBe(200);
  });
});

describe("signs nobody in:", () => {
  const twists: [string, Twist][] = [
    ["a credential for another page", { origin: "https://evil.example" }],
    ["one for another port of this host", { origin: `${ORIGIN}:9999` }],
    ["one for another scheme", { origin: ORIGIN.replace("http:", "https:") }],
    ["one for another host name", { host: "evil.example" }],
    ["one that signed another challenge", { challenge: base64url.encode(new Uint8Array(32)) }],
    ["one that was made for a new passkey", { type: "webauthn.create" }],
    ["one from a frame of another site", { crossOrigin: true }],
    ["one from a frame that names its site", { crossOrigin: true, topOrigin: "https://evil.example" }],
    ["one whose user was not verified", { flags: FLAG.present }],
    ["one whose user was not there", { flags: FLAG.verified }],
    ["a passkey under another account", { userHandle: handleOf("owner") }],
    ["a passkey under an account that never was", { userHandle: handleOf(crypto.randomUUID()) }],
    ["a passkey under what is no account", { userHandle: handleOf("../owner") }],
  ];

  it.each(twists)("%s", async (_what, twist) => {
    const person = await Person.signIn();
    const { authenticator } = await addPasskey(person);
    await expectRefused(await signInWith(authenticator, twist));
    expect((await signInWith(authenticator)).status).toBe(200);
  });

  it("a key that the account does not know, under the id of one that it knows", async () => {
    const person = await Person.signIn();
    const { authenticator } = await addPasskey(person);
    await expectRefused(await signInWith(authenticator, { signedBy: await Authenticator.open() }));
  });

  it("another account's passkey, neither under this account's name nor with its id", async () => {
    const [ann, ben] = [await Person.signIn(), await Person.signIn()];
    const { authenticator: anns } = await addPasskey(ann);
    const { authenticator: bens } = await addPasskey(ben);
    await expectRefused(await signInWith(bens, { userHandle: anns.userHandle }));
    await expectRefused(await signInWith(anns, { signedBy: bens }));
    const { account } = await (await signInWith(bens)).json<SignedIn>();
    expect(account).toBe(ben.account);
  });

  it("a passkey that ben registered under ann's id: hers still leads to her, his to him", async () => {
    const [ann, ben] = [await Person.signIn(), await Person.signIn()];
    const { authenticator: anns } = await addPasskey(ann);
    const copy = await Authenticator.open({ id: anns.id });
    await addPasskey(ben, copy);
    await expectRefused(await signInWith(copy, { userHandle: anns.userHandle }));
    expect(await (await signInWith(anns)).json<SignedIn>()).toMatchObject({ account: ann.account });
    expect(await (await signInWith(copy)).json<SignedIn>()).toMatchObject({ account: ben.account });
  });

  it("the same answer a second time, also after the account's object has slept", async () => {
    const person = await Person.signIn();
    const { authenticator } = await addPasskey(person);
    const { state, options } = await beginSignIn();
    const credential = await authenticator.get(options);
    expect((await sendSignIn(state, credential)).status).toBe(200);
    await expectRefused(await sendSignIn(state, credential));
    await evictDurableObject(env.ACCOUNT.getByName(person.account));
    await expectRefused(await sendSignIn(state, credential));
  });

  it("the same answer twice at the same time", async () => {
    const person = await Person.signIn();
    const { authenticator } = await addPasskey(person);
    const { state, options } = await beginSignIn();
    const credential = await authenticator.get(options);
    const answers = await Promise.all([1, 2, 3, 4].map(() => sendSignIn(state, credential)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
  });

  it("an answer to one challenge with the state of another, or with a state that is none", async () => {
    const person = await Person.signIn();
    const { authenticator } = await addPasskey(person);
    const [one, other] = [await beginSignIn(), await beginSignIn()];
    const credential = await authenticator.get(one.options);
    const creation = await beginPasskey(person);
    const forCreation = await authenticator.get({ ...one.options, challenge: creation.options.challenge });
    await expectRefused(await sendSignIn(other.state, credential));
    await expectRefused(await sendSignIn(creation.state, forCreation));
    await expectRefused(await sendSignIn(person.accessToken, credential));
    await expectRefused(await sendSignIn("made-up", credential));
    expect((await sendSignIn(one.state, credential)).status).toBe(200);
  });

  it("an answer that comes too late", async () => {
    const person = await Person.signIn();
    const { authenticator } = await addPasskey(person);
    const { state, options } = await beginSignIn();
    const credential = await authenticator.get(options);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 301_000 });
    await expectRefused(await sendSignIn(state, credential));
  });

  it("a copy of a security key, whose counter goes back or stands still", async () => {
    const person = await Person.signIn();
    const { authenticator } = await addPasskey(person);
    expect((await signInWith(authenticator, { counter: 7 })).status).toBe(200);
    for (const counter of [0, 6, 7]) await expectRefused(await signInWith(authenticator, { counter }));
    expect((await signInWith(authenticator, { counter: 8 })).status).toBe(200);
  });

  it("two copies of a security key at the same time: one of them", async () => {
    const person = await Person.signIn();
    const { authenticator } = await addPasskey(person);
    const answers = await Promise.all([1, 1, 1].map((counter) => signInWith(authenticator, { counter })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  });

  it("another page, whatever it sends", async () => {
    const person = await Person.signIn();
    const { authenticator } = await addPasskey(person);
    const { state, options } = await beginSignIn();
    const credential = await authenticator.get(options);
    const Origin = "https://evil.example";
    const sent = await sendSignIn(state, credential, { Origin });
    const begun = await ask("/v1/sign-in/passkey/options", { method: "POST", headers: { Origin } });
    const preflight = await ask("/v1/sign-in/passkey", { method: "OPTIONS", headers: { Origin } });
    expect([sent.status, begun.status, preflight.status]).toEqual([403, 403, 403]);
  });

  it("a stranger, who leaves no trace: an account that never was is not made, one that is writes nothing", async () => {
    const person = await Person.signIn();
    await addPasskey(person);
    const object = env.ACCOUNT.getByName(person.account);
    const stored = () =>
      runInDurableObject(object, (_, { storage: { sql } }) =>
        ["used", "passkeys", "grants"].map((table) => sql.exec(`SELECT * FROM ${table}`).toArray()),
      );
    const [before, accounts] = [await stored(), (await listDurableObjectIds(env.ACCOUNT)).length];
    const stranger = await Authenticator.open();
    for (const account of [person.account, "never-was", "owner-of-nothing"])
      await expectRefused(await signInWith(stranger, { userHandle: handleOf(account) }));
    expect(await stored()).toEqual(before);
    expect((await listDurableObjectIds(env.ACCOUNT)).length).toBe(accounts);
  });

  it("who keeps trying, and is told to wait, also with a made-up cookie", async () => {
    const here = { "CF-Connecting-IP": crypto.randomUUID(), Cookie: "matrx_session=x.y.z" };
    const { state, options } = await beginSignIn();
    const stranger = await Authenticator.open();
    const credential = await stranger.get(options, { userHandle: handleOf("owner") });
    // One more is allowed every two seconds.
    vi.useFakeTimers({ toFake: ["Date"] });
    for (let n = 0; n < 30; n++) expect((await sendSignIn(state, credential, here)).status).toBe(401);
    expect((await sendSignIn(state, credential, here)).status).toBe(429);
  });
});

describe("is not added:", () => {
  const twists: [string, Twist][] = [
    ["a passkey for another page", { origin: "https://evil.example" }],
    ["one for another host name", { host: "evil.example" }],
    ["one for another challenge", { challenge: base64url.encode(new Uint8Array(32)) }],
    ["one that is an answer to a sign-in", { type: "webauthn.get" }],
    ["one from a frame of another site", { crossOrigin: true }],
    ["one whose user was not verified", { flags: FLAG.present }],
    [
      "one with certificates, whose revocation the relay would look up at an address of the sender's",
      {
        attestation: {
          fmt: "packed",
          attStmt: new Map<string, unknown>([
            ["alg", -7],
            ["sig", new Uint8Array(8)],
            ["x5c", [new Uint8Array(8)]],
          ]),
        },
      },
    ],
    ["one with an attestation of another kind", { attestation: { fmt: "tpm", attStmt: new Map() } }],
  ];

  async function expectNotAdded(person: Person, body: unknown): Promise<void> {
    const response = await person.ask("/v1/passkeys", json(body));
    expect([response.status, await response.json()]).toMatchObject([400, { code: "INVALID_PARAMETERS" }]);
    expect(await passkeysOf(person)).toEqual([]);
  }

  it.each(twists)("%s", async (_what, twist) => {
    const person = await Person.signIn();
    const { state, options } = await beginPasskey(person);
    await expectNotAdded(person, {
      state,
      credential: await (await Authenticator.open()).create(options, twist),
    });
  });

  it("one under another id than the authenticator's", async () => {
    const person = await Person.signIn();
    const { state, options } = await beginPasskey(person);
    const credential = await (await Authenticator.open()).create(options);
    const { id } = await Authenticator.open();
    await expectNotAdded(person, { state, credential: { ...credential, id, rawId: id } });
  });

  it("one that another session of the account, or another account, has begun", async () => {
    const [one, other] = [await Person.signIn("passkey-twice"), await Person.signIn("passkey-twice")];
    const stranger = await Person.signIn();
    const { state, options } = await beginPasskey(one);
    const credential = await (await Authenticator.open()).create(options);
    await expectNotAdded(other, { state, credential });
    await expectNotAdded(stranger, { state, credential });
    const { state: forSignIn } = await beginSignIn();
    await expectNotAdded(one, { state: forSignIn, credential });
    expect((await one.ask("/v1/passkeys", json({ state, credential }))).status).toBe(201);
  });

  it("a second one by the same challenge", async () => {
    const person = await Person.signIn();
    const { state, options } = await beginPasskey(person);
    const [one, other] = await Promise.all([Authenticator.open(), Authenticator.open()]);
    await person.post("/v1/passkeys", { state, credential: await one.create(options) });
    const again = await person.ask("/v1/passkeys", json({ state, credential: await other.create(options) }));
    expect(again.status).toBe(400);
    expect((await passkeysOf(person)).map(({ id }) => id)).toEqual([one.id]);
  });

  it("one of a session that was signed out while it was made", async () => {
    const person = await Person.signIn();
    const { state, options } = await beginPasskey(person);
    const credential = await (await Authenticator.open()).create(options);
    expect((await person.ask("/v1/sign-out", { method: "POST" })).status).toBe(204);
    const init = json({ state, credential }, bearer(person.accessToken));
    expect((await ask("/v1/passkeys", init)).status).toBe(401);
  });

  it("one whose algorithm was not offered", async () => {
    const person = await Person.signIn();
    const { state, options } = await beginPasskey(person);
    const authenticator = await Authenticator.open({ algorithm: ALGORITHMS.ES384 });
    await expectNotAdded(person, { state, credential: await authenticator.create(options) });
  });

  it("what is no credential", async () => {
    const person = await Person.signIn();
    const { state } = await beginPasskey(person);
    for (const credential of [{}, { id: "x" }, null, "x"])
      await expectNotAdded(person, { state, credential });
  });
});

it("another account's passkeys can neither be listed, renamed nor removed", async () => {
  const [ann, ben] = [await Person.signIn(), await Person.signIn()];
  const { authenticator } = await addPasskey(ann);
  const path = `/v1/passkeys/${authenticator.id}`;
  expect(await passkeysOf(ben)).toEqual([]);
  expect((await ben.ask(path, { ...json({ name: "mine" }), method: "PATCH" })).status).toBe(404);
  expect((await ben.ask(path, { method: "DELETE" })).status).toBe(404);
  expect((await signInWith(authenticator)).status).toBe(200);
});

it.each([
  ["127.0.0.1:8787", "http://localhost:8787"],
  ["[::1]:8787", "http://localhost:8787"],
])("at %s, which is no name, a person is told where passkeys work", async (host, instead) => {
  const request = new Request(`http://${host}/v1/sign-in/passkey/options`, { method: "POST" });
  const response = await exports.default.fetch(request);
  expect([response.status, await response.json()]).toMatchObject([
    409,
    { code: "CONFLICT", hint: expect.stringContaining(instead) },
  ]);
});

it("refuses text that can't be base64url at the border", async () => {
  const { authenticator } = await addPasskey(await Person.signIn());
  const { state, options } = await beginSignIn();
  const credential = await authenticator.get(options);
  for (const userHandle of ["A", "AAAAA", "AA=="]) {
    const response = await sendSignIn(state, {
      ...credential,
      response: { ...credential.response, userHandle },
    });
    expect([response.status, (await response.json<{ code: string }>()).code]).toEqual([
      400,
      "INVALID_PARAMETERS",
    ]);
  }
});

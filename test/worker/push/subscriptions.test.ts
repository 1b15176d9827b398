/** Which browsers get notifications: whose they are, how many, where they may be, and when they end. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { AccountId } from "@matrx/shared/ids.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import type { PushSubscriptionView, PushTest } from "@matrx/shared/push-api.ts";
import { base64url, importJWK, jwtVerify } from "jose";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PushBrowser, PushServices, patch, pushOf, subscribe } from "../helpers/push.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask, ORIGIN } from "../helpers/request.ts";

let services: PushServices;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  services = PushServices.start();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function stored(person: Person): Promise<number> {
  return runInDurableObject(
    env.ACCOUNT.getByName(person.account),
    (_, { storage }) =>
      storage.sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM push_subscriptions").one().n,
  );
}

function testPush(person: Person, body: object = {}): Promise<PushTest> {
  return person.post("/v1/push/test", body);
}

describe("a subscription", () => {
  it("is listed with its browser's name, without the secrets that it was made of", async () => {
    const person = await Person.signIn();
    const { browser, id } = await subscribe(person, { name: "Ann's phone", kinds: ["approvals"] });
    const push = await pushOf(person);
    expect(push).toEqual({
      public_key: expect.stringMatching(/^B[\w-]{86}$/),
      subscriptions: [
        {
          ...{ id, name: "Ann's phone", own: true, kinds: ["approvals"], created: expect.any(String) },
          ...{ succeeded: null, problem: null },
        },
      ],
      quiet_hours: null,
    });
    const { endpoint, keys } = browser.subscription;
    for (const secret of [endpoint, keys.p256dh, keys.auth])
      expect(JSON.stringify(push)).not.toContain(secret);
    const other = await Person.signIn(person.account);
    expect((await pushOf(other)).subscriptions).toMatchObject([{ id, own: false }]);
  });

  it("is one for each session: a new one takes the place of the old one, also of the same browser's", async () => {
    const person = await Person.signIn();
    const { browser } = await subscribe(person);
    const second = await subscribe(person);
    expect((await pushOf(person)).subscriptions.map(({ id }) => id)).toEqual([second.id]);
    const again = await Person.signIn(person.account);
    await again.post("/v1/push/subscriptions", second.browser.subscription);
    await again.post("/v1/push/subscriptions", browser.subscription);
    expect((await pushOf(person)).subscriptions).toMatchObject([{ own: false, name: "A browser" }]);
  });

  it("is told of all kinds unless it says otherwise, and changes", async () => {
    const person = await Person.signIn();
    const { id } = await subscribe(person);
    const kinds = async () => (await pushOf(person)).subscriptions[0]?.kinds;
    expect(await kinds()).toEqual(["approvals", "alerts", "finished"]);
    expect((await patch(person, `/v1/push/subscriptions/${id}`, { kinds: ["alerts"] })).status).toBe(200);
    expect(await kinds()).toEqual(["alerts"]);
    for (const wrong of [{ kinds: ["alerts", "alerts"] }, { kinds: ["all"] }, { kinds: [], name: "x" }, {}])
      expect((await patch(person, `/v1/push/subscriptions/${id}`, wrong)).status).toBe(400);
    expect(await kinds()).toEqual(["alerts"]);
  });

  it("is one of 20 at the most", async () => {
    const first = await Person.signIn();
    await subscribe(first);
    for (let n = 1; n < LIMITS.pushSubscriptions; n++) await subscribe(await Person.signIn(first.account));
    const late = await Person.signIn(first.account);
    const refused = await late.ask("/v1/push/subscriptions", json((await PushBrowser.open()).subscription));
    expect([refused.status, await refused.json()]).toMatchObject([429, { limit: LIMITS.pushSubscriptions }]);
    await subscribe(first);
    expect((await pushOf(first)).subscriptions.length).toBe(LIMITS.pushSubscriptions);
  });

  it.each([
    "http://push.test/send/1",
    "https://127.0.0.1/send/1",
    "https://[::1]/send/1",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://10.0.0.1/",
    "https://localhost/",
    "https://relay.localhost/",
    "https://router/",
    "https://nas.local/",
    "https://push.test:8443/",
    "https://ann:secret@push.test/",
    "https://push.test/#part",
    "ftp://push.test/",
    "file:///etc/passwd",
    "push.test",
    "",
    `https://push.test/${"x".repeat(1024)}`,
  ])("is not made for %s", async (endpoint) => {
    const person = await Person.signIn();
    const wish = { ...(await PushBrowser.open()).subscription, endpoint };
    const refused = await person.ask("/v1/push/subscriptions", json(wish));
    expect([refused.status, await refused.json()]).toMatchObject([400, { code: "INVALID_PARAMETERS" }]);
    expect(await stored(person)).toBe(0);
    expect(services.posted).toEqual([]);
  });

  it("is not made with keys that are none", async () => {
    const person = await Person.signIn();
    const { endpoint, keys } = (await PushBrowser.open()).subscription;
    const offCurve = base64url.encode(Uint8Array.from({ length: 65 }, (_, n) => (n === 0 ? 4 : n)));
    for (const wrong of [
      { ...keys, p256dh: offCurve },
      { ...keys, p256dh: keys.p256dh.slice(1) },
      { ...keys, auth: `${keys.auth}AA` },
      { ...keys, more: "x" },
      {},
    ]) {
      const refused = await person.ask("/v1/push/subscriptions", json({ endpoint, keys: wrong }));
      expect([refused.status, await refused.json()]).toMatchObject([400, { code: "INVALID_PARAMETERS" }]);
    }
    expect(await stored(person)).toBe(0);
  });
});

describe("belongs to its account:", () => {
  it("another account neither sees, changes, ends nor tests it", async () => {
    const [ann, ben] = [await Person.signIn(), await Person.signIn()];
    const { id } = await subscribe(ann);
    expect((await pushOf(ben)).subscriptions).toEqual([]);
    const path = `/v1/push/subscriptions/${id}`;
    const tries = [
      await patch(ben, path, { kinds: [] }),
      await ben.ask(path, { method: "DELETE" }),
      await ben.ask("/v1/push/test", json({ subscription: id })),
    ];
    for (const refused of tries)
      expect([refused.status, await refused.json()]).toMatchObject([404, { code: "NOT_FOUND" }]);
    expect(await testPush(ben)).toEqual({ results: [] });
    expect(services.posted).toEqual([]);
    expect((await pushOf(ann)).subscriptions).toMatchObject([
      { id, kinds: ["approvals", "alerts", "finished"] },
    ]);
  });

  it("no token has a part in it, an AI's or a script's, and nobody without one", async () => {
    const person = await Person.signIn();
    const { id } = await subscribe(person);
    const [ai, script] = [await person.grant({ paths: null }), await person.token({ access: "full" })];
    const wish = (await PushBrowser.open()).subscription;
    const requests: [string, RequestInit][] = [
      ["/v1/push", {}],
      ["/v1/push", { ...json({ quiet_hours: null }), method: "PATCH" }],
      ["/v1/push/subscriptions", json(wish)],
      [`/v1/push/subscriptions/${id}`, { ...json({ kinds: [] }), method: "PATCH" }],
      [`/v1/push/subscriptions/${id}`, { method: "DELETE" }],
      ["/v1/push/test", json({})],
    ];
    for (const [path, init] of requests) {
      for (const { token } of [ai, script])
        expect((await ask(path, { ...init, headers: bearer(token) })).status).toBe(403);
      expect((await ask(path, { ...init, headers: { Cookie: person.cookie, Origin: ORIGIN } })).status).toBe(
        401,
      );
    }
    expect((await pushOf(person)).subscriptions.length).toBe(1);
  });

  it("the key is the account's own, and stays through sleep", async () => {
    const [ann, ben] = [await Person.signIn(), await Person.signIn()];
    const [first, second] = await Promise.all([pushOf(ann), pushOf(ann)]);
    expect(first.public_key).toBe(second.public_key);
    await evictDurableObject(env.ACCOUNT.getByName(ann.account));
    expect((await pushOf(ann)).public_key).toBe(first.public_key);
    expect((await pushOf(ben)).public_key).not.toBe(first.public_key);
  });
});

describe("ends", () => {
  it("when its person says so", async () => {
    const person = await Person.signIn();
    const { id } = await subscribe(person);
    expect((await person.ask(`/v1/push/subscriptions/${id}`, { method: "DELETE" })).status).toBe(204);
    expect((await person.ask(`/v1/push/subscriptions/${id}`, { method: "DELETE" })).status).toBe(404);
    expect(await stored(person)).toBe(0);
  });

  it("with its session: signed out, signed out elsewhere, revoked", async () => {
    const person = await Person.signIn();
    await subscribe(person);
    const [second, third] = [await Person.signIn(person.account), await Person.signIn(person.account)];
    await subscribe(second);
    await subscribe(third);
    await third.ask("/v1/sign-out", { method: "POST" });
    expect(await stored(person)).toBe(2);
    const { grant } = await (await second.ask("/v1/account")).json<{ grant: string }>();
    expect((await person.ask(`/v1/tokens/${grant}`, { method: "DELETE" })).status).toBe(204);
    expect(await stored(person)).toBe(1);
    const fourth = await Person.signIn(person.account);
    await fourth.post("/v1/sessions/revoke-others", {});
    expect(await stored(person)).toBe(0);
  });

  it("with its session's time: nothing is sent from then on, and soon it is not stored either", async () => {
    const person = await Person.signIn();
    await subscribe(person);
    vi.setSystemTime(Date.now() + 31 * 24 * 60 * 60_000);
    const later = await Person.signIn(person.account);
    expect((await pushOf(later)).subscriptions).toEqual([]);
    expect(await testPush(later)).toEqual({ results: [] });
    expect(await stored(later)).toBe(0);
  });

  it("with the account, and so does its key", async () => {
    const person = await Person.signIn();
    await subscribe(person);
    const account = env.ACCOUNT.getByName(person.account as AccountId);
    expect((await account.close()).ok).toBe(true);
    expect(await stored(person)).toBe(0);
    await runInDurableObject(account, (_, { storage }) => {
      expect(storage.kv.get("push_key")).toBeUndefined();
    });
  });

  it("when its push service says so", async () => {
    const person = await Person.signIn();
    const { id } = await subscribe(person);
    services.answer = () => new Response(null, { status: 410 });
    expect(await testPush(person, { subscription: id })).toMatchObject({
      results: [{ subscription: id, sent: false, problem: "The browser no longer takes notifications" }],
    });
    expect(await stored(person)).toBe(0);
  });
});

describe("a test", () => {
  it("comes as RFC 8030, 8188, 8291 and 8292 want it, and says so", async () => {
    const person = await Person.signIn();
    const { browser, id } = await subscribe(person);
    expect(await testPush(person)).toEqual({ results: [{ subscription: id, sent: true, problem: null }] });
    expect(await services.messagesTo(browser)).toEqual([{ kind: "test" }]);
    const [posted] = services.posted;
    expect(posted).toMatchObject({
      url: browser.endpoint,
      redirect: "manual",
      headers: {
        "content-encoding": "aes128gcm",
        "content-type": "application/octet-stream",
        ttl: "60",
        urgency: "high",
        topic: expect.stringMatching(/^[\w-]{32}$/),
      },
    });
    expect(posted?.body.length).toBeLessThanOrEqual(4096);
    const { public_key, subscriptions } = await pushOf(person);
    expect(subscriptions).toMatchObject([{ id, succeeded: new Date().toISOString(), problem: null }]);

    const [, token = "", key = ""] =
      /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(posted?.headers.authorization ?? "") ?? [];
    expect(key).toBe(public_key);
    const point = base64url.decode(key);
    const [x, y] = [point.slice(1, 33), point.slice(33)].map((half) => base64url.encode(half));
    const publicKey = await importJWK({ kty: "EC", crv: "P-256", x: x ?? "", y: y ?? "" }, "ES256");
    const { payload } = await jwtVerify(token, publicKey, {
      audience: "https://push.test",
      algorithms: ["ES256"],
    });
    expect(payload.sub).toBe("mailto:relay@matrx.invalid");
    const hours = ((payload.exp ?? 0) * 1000 - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(6);
    expect(hours).toBeLessThanOrEqual(24);
  });

  it("names the relay's address, where it has one that others can reach", async () => {
    const person = await Person.signIn();
    const { endpoint, keys } = (await PushBrowser.open()).subscription;
    const wish = { endpoint, ...keys, contact: "https://relay.example", name: "x" };
    const { grant } = await (await person.ask("/v1/account")).json<{ grant: string }>();
    await env.ACCOUNT.getByName(person.account).subscribeToPush(grant as never, wish);
    await testPush(person);
    const token = services.posted[0]?.headers.authorization?.split(/[ ,=]/)[2] ?? "";
    const { sub } = JSON.parse(atob(token.split(".")[1] ?? "")) as { sub: string };
    expect(sub).toBe("https://relay.example");
  });

  it("says what went wrong, and the list does, until it works again", async () => {
    const person = await Person.signIn();
    const { id } = await subscribe(person);
    const problem = async () => (await pushOf(person)).subscriptions[0]?.problem;
    services.answer = () => new Response("no", { status: 403 });
    expect((await testPush(person)).results).toEqual([
      { subscription: id, sent: false, problem: "Its push service answered 403" },
    ]);
    expect(await problem()).toBe("Its push service answered 403");
    services.answer = () => Promise.reject(new TypeError("nobody is there"));
    expect((await testPush(person)).results[0]?.problem).toBe("Its push service can't be reached");
    services.answer = () => new Response(null, { status: 201 });
    expect((await testPush(person)).results[0]?.sent).toBe(true);
    expect(await problem()).toBeNull();
  });

  it("follows no redirect, and reads nothing of an answer", async () => {
    const person = await Person.signIn();
    await subscribe(person);
    const cancel = vi.fn();
    const headers = { Location: "https://169.254.169.254/" };
    services.answer = () => new Response(new ReadableStream({ cancel }), { status: 302, headers });
    expect((await testPush(person)).results[0]).toMatchObject({
      ...{ sent: false, problem: "Its push service answered 302" },
    });
    expect(services.posted.length).toBe(1);
    expect(cancel).toHaveBeenCalled();
  });

  it("is sent only so often", async () => {
    const person = await Person.signIn();
    await subscribe(person);
    for (let n = 0; n < 5; n++) await testPush(person);
    const refused = await person.ask("/v1/push/test", json({}));
    expect([refused.status, await refused.json()]).toMatchObject([429, { code: "RATE_LIMITED" }]);
    expect(services.posted.length).toBe(5);
    vi.setSystemTime(Date.now() + 10_000);
    await testPush(person);
  });
});

it("quiet hours are the account's, are set and lifted, and wrong ones change nothing", async () => {
  const person = await Person.signIn();
  const hours = { from: "22:00", to: "07:00", time_zone: "Europe/Berlin", approvals: true };
  const set = await patch(person, "/v1/push", { quiet_hours: hours });
  expect([set.status, await set.json()]).toMatchObject([200, { quiet_hours: hours }]);
  for (const wrong of [
    {},
    { quiet_hours: { ...hours, to: "22:00" } },
    { quiet_hours: { ...hours, time_zone: "x" } },
  ])
    expect((await patch(person, "/v1/push", wrong)).status).toBe(400);
  const other = await Person.signIn(person.account);
  expect((await pushOf(other)).quiet_hours).toEqual(hours);
  await patch(other, "/v1/push", { quiet_hours: null });
  expect((await pushOf(person)).quiet_hours).toBeNull();
});

it("what a list shows is as its schema says", async () => {
  const person = await Person.signIn();
  const made = await person.post<PushSubscriptionView>(
    "/v1/push/subscriptions",
    (await PushBrowser.open()).subscription,
  );
  expect((await pushOf(person)).subscriptions).toEqual([made]);
});

/** Pairing a device and signing a command line in: what the owner compares, and what a code gives away. */
import { listDurableObjectIds, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { hexOf } from "@matrx/shared/ids.ts";
import { describe, expect, it } from "vitest";
import { pairingOf } from "../../../worker/objects/pairing.ts";
import { BareDevice } from "../helpers/device.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

interface Started {
  code: string;
  secret: string;
}

/** From an address of its own, as each stranger has one. */
async function begin(path: string, wish: unknown): Promise<Started> {
  const response = await ask(path, json(wish, { "CF-Connecting-IP": crypto.randomUUID() }));
  expect(response.status).toBe(201);
  return response.json<Started>();
}

const login = () => begin("/v1/logins", { name: "laptop" });

function device(public_key = btoa("k".repeat(32)).replaceAll("=", "").slice(0, 43)) {
  return begin("/v1/pairings", {
    name: "home",
    hostname: "home",
    os: "Linux",
    os_version: "6.1",
    public_key,
  });
}

function poll({ code, secret }: Started): Promise<Response> {
  return ask(`/v1/pairings/${code}/poll`, json({ secret }));
}

function stored(code: string): Promise<string[]> {
  const plain = code.replace("-", "");
  return runInDurableObject(pairingOf(env.PAIRING, plain), (_, { storage }) =>
    Array.from(storage.kv.list({ prefix: "code:" }), ([key]) => key.slice("code:".length)),
  );
}

it("shows the fingerprint that the device shows: SHA-256 of the key's bytes, not of its spelling", async () => {
  const key = crypto.getRandomValues(new Uint8Array(32));
  const public_key = btoa(String.fromCharCode(...key))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace("=", "");
  const { code } = await device(public_key);

  const person = await Person.signIn();
  const view = await (await person.ask(`/v1/pairings/${code}`)).json();

  const digest = hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", key)));
  const fingerprint = (digest.slice(0, 32).match(/.{4}/g) ?? []).join(" ");
  expect(view).toMatchObject({ kind: "device", name: "home", fingerprint });
});

it("shows names with nothing hidden in them, and no mark that turns them round", async () => {
  const key = btoa("n".repeat(32)).replaceAll("=", "").slice(0, 43);
  const names = {
    name: " lap\u202etop\u0007 ",
    hostname: "ho\u2066me",
    os: "Li\u200bnux",
    os_version: "6\n1",
  };
  const { code } = await begin("/v1/pairings", { ...names, public_key: key });
  const person = await Person.signIn();
  const shown = { name: "laptop", hostname: "home", os: "Linux", os_version: "61" };
  expect(await (await person.ask(`/v1/pairings/${code}`)).json()).toMatchObject(shown);
  const hidden = await ask("/v1/logins", json({ name: "\u202e\u200b" }, { "CF-Connecting-IP": "hidden" }));
  expect(hidden.status).toBe(400);
  const { id, token } = await person.bareDevice("sh\u202eed");
  const bare = await BareDevice.connect(id);
  bare.send({
    type: "device_register",
    device_id: id,
    hostname: "a\u202eb",
    os: "x\u001b[2J",
    auth_token: token,
  });
  await bare.expect("device_registered");
  const view = { name: "shed", hostname: "ab", os: "x[2J" };
  expect(await (await person.ask(`/v1/devices/${id}`)).json()).toMatchObject(view);
});

describe("guesses of codes", () => {
  const made = (n: number) => `ZZZZ-${n.toString(36).padStart(4, "0").toUpperCase()}`;

  it("are five in ten minutes, however many come at once", async () => {
    const person = await Person.signIn();
    const asked = Array.from({ length: 60 }, (_, n) => person.ask(`/v1/pairings/${made(n)}`));
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 404)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(55);
    const confirming = await person.ask(`/v1/pairings/${made(0)}/confirm`, json({}));
    expect(confirming.status).toBe(429);
    // Those of another account are its own.
    expect((await (await Person.signIn()).ask(`/v1/pairings/${made(0)}`)).status).toBe(404);
  });

  it("lock nobody out when the clock was set back", async () => {
    const person = await Person.signIn();
    const later = Date.now() + 24 * 60 * 60_000;
    await runInDurableObject(env.ACCOUNT.getByName(person.account), (_, { storage }) => {
      for (let n = 0; n < 5; n++) storage.sql.exec("INSERT INTO guesses (at) VALUES (?)", later);
    });
    expect((await person.ask(`/v1/pairings/${made(0)}`)).status).toBe(404);
  });

  it("do not count when they are right, and what is no code is no guess", async () => {
    const person = await Person.signIn();
    for (let n = 0; n < 8; n++) {
      const { code } = await device();
      expect((await person.ask(`/v1/pairings/${code}`)).status).toBe(200);
      expect((await person.ask(`/v1/pairings/${code}/confirm`, json({}))).status).toBe(200);
      expect((await person.ask("/v1/pairings/short")).status).toBe(404);
    }
    for (let n = 0; n < 5; n++) expect((await person.ask(`/v1/pairings/${made(n)}`)).status).toBe(404);
    const { code } = await device();
    expect((await person.ask(`/v1/pairings/${code}`)).status).toBe(429);
  });

  it("take a signed-in person", async () => {
    const person = await Person.signIn();
    const { code } = await device();
    const { token } = await person.token({ access: "full" });
    expect((await ask(`/v1/pairings/${code}`, { headers: bearer(token) })).status).toBe(403);
    expect((await ask(`/v1/pairings/${code}/confirm`, json({}, bearer(token)))).status).toBe(403);
    expect((await ask(`/v1/pairings/${code}`)).status).toBe(401);
  });

  it("of made-up codes store nothing, and make no object for each of them", async () => {
    const person = await Person.signIn();
    await person.ask(`/v1/pairings/${made(1)}`);
    const before = (await listDurableObjectIds(env.PAIRING)).length;
    for (let n = 10; n < 14; n++) await person.ask(`/v1/pairings/${made(n)}`);
    expect((await listDurableObjectIds(env.PAIRING)).length).toBe(before);
    // A real code of another test may share the object.
    const madeUp = made(1).replace("-", "").slice(0, 4);
    expect((await stored(made(1))).filter((code) => code.startsWith(madeUp))).toEqual([]);
  });
});

describe("a code", () => {
  it("gives its login once, whoever asks how often", async () => {
    const person = await Person.signIn();
    const started = await login();
    expect(await (await poll(started)).json()).toEqual({ status: "pending" });
    await person.post(`/v1/pairings/${started.code}/confirm`, {});
    const answers = await Promise.all(Array.from({ length: 5 }, () => poll(started)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
    const given = answers.find(({ status }) => status === 200);
    expect(await given?.json()).toMatchObject({ status: "signed_in", token: expect.any(String) });
    expect((await poll(started)).status).toBe(404);
    expect(await stored(started.code)).not.toContain(started.code.replace("-", ""));
  });

  it("tells its device's id again, which is no secret, when the answer was lost on the way", async () => {
    const person = await Person.signIn();
    const started = await device();
    await person.post(`/v1/pairings/${started.code}/confirm`, {});
    const first = await (await poll(started)).json();
    expect(first).toMatchObject({ status: "paired" });
    expect(await (await poll(started)).json()).toEqual(first);
  });

  it("is told to nobody but who began it", async () => {
    const [one, other] = [await login(), await login()];
    expect((await poll({ code: one.code, secret: other.secret })).status).toBe(401);
    expect((await poll({ code: one.code, secret: "x" })).status).toBe(401);
  });

  it("that is over leaves nothing behind, and others go on", async () => {
    const started: Started[] = [];
    // Two of one object.
    while (new Set(started.map(({ code }) => code[0])).size === started.length) started.push(await device());
    const [last] = started.slice(-1);
    const twin = started.find(({ code }) => code[0] === last?.code[0]);
    if (!last || !twin) throw new Error("none");
    const [one, two] = [twin, last].map(({ code }) => code.replace("-", "")) as [string, string];
    const pairing = pairingOf(env.PAIRING, one);
    const expire = (code: string) =>
      runInDurableObject(pairing, (_, { storage }) => {
        const row = storage.kv.get<object>(`code:${code}`);
        storage.kv.put(`code:${code}`, { ...row, expires: Date.now() - 1 });
      });
    await expire(one);
    expect(await runDurableObjectAlarm(pairing)).toBe(true);
    expect(await stored(one)).not.toContain(one);
    expect(await stored(one)).toContain(two);
    for (const code of await stored(one)) await expire(code);
    expect(await runDurableObjectAlarm(pairing)).toBe(true);
    expect(await stored(one)).toEqual([]);
    expect(await runInDurableObject(pairing, (_, { storage }) => storage.getAlarm())).toBeNull();
    expect((await poll(twin)).status).toBe(404);
  });
});

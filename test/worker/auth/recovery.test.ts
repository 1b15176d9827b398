/** A person who has lost every passkey signs in with a code from paper; nobody else does. */
import { evictDurableObject, listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { RecoveryCodesLeft } from "@matrx/shared/recovery-code.ts";
import type { SignedIn } from "@matrx/shared/session-api.ts";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Browser } from "../helpers/browser.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

async function codesOf(person: Person): Promise<string[]> {
  return (await person.post<{ codes: string[] }>("/v1/recovery-codes", {})).codes;
}

async function leftOf(person: Person): Promise<RecoveryCodesLeft> {
  return (await person.ask("/v1/recovery-codes")).json();
}

async function recover(code: string, headers: Record<string, string> = somewhere()): Promise<Response> {
  const { publicKey: key } = await Browser.open();
  return ask("/v1/sign-in/recovery", json({ code, key }, headers));
}

const somewhere = () => ({ "CF-Connecting-IP": crypto.randomUUID() });

async function expectRefused(response: Response): Promise<void> {
  expect(response.status).toBe(401);
  expect(response.headers.get("Set-Cookie")).toBeNull();
  expect(await response.json()).toMatchObject({
    code: "UNAUTHENTICATED",
    detail: "This recovery code signs nobody in here",
  });
}

describe("a person", () => {
  it("makes ten codes, and signs in with each once", async () => {
    const person = await Person.signIn();
    expect(await leftOf(person)).toEqual({ left: 0, created: null });
    const codes = await codesOf(person);
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^person-[0-9a-f]+\.(?:[0-9A-HJKMNP-TV-Z]{4}-?){4}$/);

    const [first = "", ...others] = codes;
    const response = await recover(first);
    expect(response.status).toBe(200);
    expect(response.headers.get("Set-Cookie")).toContain("matrx_session=");
    const { account, access_token } = await response.json<SignedIn>();
    expect(account).toBe(person.account);
    expect((await ask("/v1/tokens", { headers: bearer(access_token) })).status).toBe(200);
    await expectRefused(await recover(first));
    await evictDurableObject(env.ACCOUNT.getByName(person.account));
    await expectRefused(await recover(first));
    expect(await leftOf(person)).toEqual({ left: 9, created: expect.any(String) });
    for (const code of others) expect((await recover(code)).status).toBe(200);
    expect(await leftOf(person)).toEqual({ left: 0, created: null });
  });

  it("types a code as people do: in small letters, without dashes, with O for 0 and l for 1", async () => {
    const person = await Person.signIn();
    const [one = "", two = "", three = ""] = await codesOf(person);
    const typed = [
      ` ${one.toLowerCase().replaceAll("-", " ").replaceAll("person ", "person-")} `,
      two.replace(/(?<=\..*)-/g, "").replace(/(?<=\..*)0/g, "O"),
      three.replace(/(?<=\..*)1/g, "l").toUpperCase(),
    ];
    for (const code of typed) expect([code, (await recover(code)).status]).toEqual([code, 200]);
  });

  it("makes new ones, after which the old ones are worth nothing", async () => {
    const person = await Person.signIn();
    const [old = ""] = await codesOf(person);
    const [fresh = ""] = await codesOf(person);
    await expectRefused(await recover(old));
    expect((await recover(fresh)).status).toBe(200);
  });

  it("is shown them only once: the relay keeps hashes", async () => {
    const person = await Person.signIn();
    const codes = await codesOf(person);
    const rows = await runInDurableObject(env.ACCOUNT.getByName(person.account), (_, { storage }) =>
      JSON.stringify(storage.sql.exec("SELECT * FROM recovery_codes").toArray()),
    );
    for (const code of codes) expect(rows.toUpperCase()).not.toContain(code.split(".")[1]);
    expect(Object.keys(await leftOf(person)).sort()).toEqual(["created", "left"]);
  });
});

describe("signs nobody in:", () => {
  it("one code twice at the same time", async () => {
    const person = await Person.signIn();
    const [code = ""] = await codesOf(person);
    const answers = await Promise.all([1, 2, 3, 4].map(() => recover(code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
  });

  it("a code of one account under the name of another", async () => {
    const [ann, ben] = [await Person.signIn(), await Person.signIn()];
    const [anns = ""] = await codesOf(ann);
    await codesOf(ben);
    await expectRefused(await recover(`${ben.account}.${anns.split(".")[1]}`));
    expect((await recover(anns)).status).toBe(200);
  });

  it("a made-up code, with the same words for each account, and no object for one that never was", async () => {
    const [withCodes, without] = [await Person.signIn(), await Person.signIn()];
    await codesOf(withCodes);
    const accounts = (await listDurableObjectIds(env.ACCOUNT)).length;
    const made = ["0000-0000-0000-0000", "", "x", "0000-0000-0000-000!", "0".repeat(200)];
    for (const account of [withCodes.account, without.account, "never-was", "../owner", ""])
      for (const secret of made) await expectRefused(await recover(`${account}.${secret}`));
    expect((await listDurableObjectIds(env.ACCOUNT)).length).toBe(accounts);
    expect(await leftOf(withCodes)).toMatchObject({ left: 10 });
  });

  it("whoever guesses: it is told to wait, also with a made-up cookie; a right code signs in all the same", async () => {
    const person = await Person.signIn();
    const [code = ""] = await codesOf(person);
    const here = { ...somewhere(), Cookie: "matrx_session=x.y.z" };
    // One more is allowed every two seconds.
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const guess = () => recover(`${person.account}.0000-0000-0000-0000`, here);
    for (let n = 0; n < 30; n++) expect((await guess()).status).toBe(401);
    expect((await guess()).status).toBe(429);
    expect((await recover(code, here)).status).toBe(200);
  });

  it("a code from another page, or without a key", async () => {
    const person = await Person.signIn();
    const [code = ""] = await codesOf(person);
    expect((await recover(code, { Origin: "https://evil.example" })).status).toBe(403);
    expect((await ask("/v1/sign-in/recovery", json({ code }))).status).toBe(400);
    expect(await leftOf(person)).toMatchObject({ left: 10 });
  });
});

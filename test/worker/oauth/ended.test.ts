/** When an AI client's access ends, and how little strangers and clients can store. */
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { AccountId } from "@matrx/shared/ids.ts";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { grantStore } from "../../../worker/objects/oauth-store.ts";
import { Person } from "../helpers/relay.ts";
import { authorize, Client, errorOf, grantIds, type Tokens, whoCalls } from "./client.ts";

let ann: Person;
let laptop: string;
let client: Client;

beforeAll(async () => {
  ann = await Person.signIn();
  laptop = (await ann.bareDevice("laptop")).id;
  client = await Client.register();
});
afterEach(() => vi.useRealTimers());

const REFUSED = { code: "UNAUTHENTICATED" };

it("an expired grant gives no tokens, and an access token ends by itself", async () => {
  const got = await client.connect(ann, laptop, { wish: { days: 1 } });
  const day = 24 * 60 * 60_000;
  vi.useFakeTimers({ now: Date.now() + 61 * 60_000, toFake: ["Date"] });
  await expect(whoCalls(got.access_token)).rejects.toMatchObject(REFUSED);
  vi.setSystemTime(Date.now() + day);
  expect(await errorOf(await client.refresh(got))).toBe("invalid_grant");
});

it("a client that never came for its tokens leaves no grant behind", async () => {
  const before = await grantIds(ann);
  await client.letIn(ann, laptop);
  const [made] = (await grantIds(ann)).filter((id) => !before.includes(id));
  const store = grantStore(env.OAUTH_STORE, ann.account as AccountId);
  await runInDurableObject(store, (_, { storage }) =>
    storage.sql.exec("UPDATE entries SET expires = 1 WHERE key LIKE 'grant:%' AND value LIKE ?", `%${made}%`),
  );
  // The grant expires, and the account is told; an alarm of an earlier test may come first.
  for (let ring = 0; ring < 3; ring++) await runDurableObjectAlarm(store);
  expect(await grantIds(ann)).not.toContain(made);
});

it("closing the account ends its clients", async () => {
  const eve = await Person.signIn();
  const { id } = await eve.bareDevice("notebook");
  const got = await client.connect(eve, id);
  await env.ACCOUNT.getByName(eve.account).close();
  await expect(whoCalls(got.access_token)).rejects.toMatchObject(REFUSED);
  expect(await errorOf(await client.refresh(got))).toBe("invalid_grant");
});

it("a grant that is over gives no tokens, even if the store has not heard of it", async () => {
  const got = await client.connect(ann, laptop);
  const { grant } = await whoCalls(got.access_token);
  await runInDurableObject(env.ACCOUNT.getByName(ann.account), (_, { storage }) =>
    storage.sql.exec("DELETE FROM grants WHERE id = ?", grant),
  );
  expect(await errorOf(await client.refresh(got))).toBe("invalid_grant");
  await expect(whoCalls(got.access_token)).rejects.toMatchObject(REFUSED);
});

it("a client that refreshes without end keeps few tokens", async () => {
  let got = await client.connect(ann, laptop);
  const first = got.access_token;
  for (let round = 0; round < 40; round++) got = await (await client.refresh(got)).json<Tokens>();
  await expect(whoCalls(first)).rejects.toMatchObject(REFUSED);
  expect(await whoCalls(got.access_token)).toMatchObject({ account: ann.account });
});

it("registrations that nobody uses make room for new ones, and those in use stay", async () => {
  await client.connect(ann, laptop);
  const early = await Client.register();
  const store = env.OAUTH_STORE.getByName("clients");
  await runInDurableObject(store, (_, { storage }) => {
    const insert =
      "INSERT INTO entries (key, value, metadata, expires, version) VALUES (?, '{}', NULL, ?, 1)";
    const until = Date.now() + 24 * 60 * 60_000;
    for (let index = 0; index < 2000; index++) storage.sql.exec(insert, `client:filler${index}`, until);
  });
  const late = await Client.register();
  expect((await authorize(await early.request())).status).toBe(400);
  expect((await authorize(await late.request())).status).toBe(200);
  expect((await authorize(await client.request())).status).toBe(200);
});

/** Programs that share a sign-in refresh the same token; a token that comes back long after is a thief's, or its victim's. */
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { AccountId } from "@matrx/shared/ids.ts";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { grantStore } from "../../../worker/objects/oauth-store.ts";
import { Person } from "../helpers/relay.ts";
import { Client, errorOf, grantIds, register, type Tokens, whoCalls } from "./client.ts";

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
const GRACE_MS = 60_000;

function later(ms: number): void {
  vi.useFakeTimers({ now: Date.now() + ms, toFake: ["Date"] });
}

async function refreshed(got: Tokens): Promise<Tokens> {
  const answer = await client.refresh(got);
  expect(answer.status, await answer.clone().text()).toBe(200);
  return answer.json();
}

it("two programs that refresh the same token one after the other both stay signed in", async () => {
  const shared = await client.connect(ann, laptop);
  const one = await refreshed(shared);
  later(GRACE_MS - 2000);
  const two = await refreshed(shared);
  expect(two.refresh_token).toBe(one.refresh_token);
  expect(two.expires_in).toBe(one.expires_in - 58);
  for (const { access_token } of [one, two])
    expect(await whoCalls(access_token)).toMatchObject({ account: ann.account });
  later(GRACE_MS);
  await refreshed(two);
});

it("a burst of refreshes of one token, and of its successor, is answered alike for each", async () => {
  let shared = await client.connect(ann, laptop);
  for (let round = 0; round < 3; round++) {
    const same = await Promise.all(Array.from({ length: 12 }, () => refreshed(shared)));
    expect(new Set(same.map(({ refresh_token }) => refresh_token)).size).toBe(1);
    for (const { access_token } of same) await whoCalls(access_token);
    shared = same[0] as Tokens;
  }
});

it("who comes second gets the newest, however often the first has refreshed meanwhile", async () => {
  const shared = await client.connect(ann, laptop);
  const newest = await refreshed(await refreshed(shared));
  const second = await refreshed(shared);
  expect(second.refresh_token).toBe(newest.refresh_token);
  later(GRACE_MS * 2);
  await refreshed(second);
});

it("a token that comes back later ends all that came of it, for thief and owner alike", async () => {
  for (const rounds of [1, 3]) {
    const stolen = await client.connect(ann, laptop);
    let own = stolen;
    for (let round = 0; round < rounds; round++) own = await refreshed(own);
    const { grant } = await whoCalls(own.access_token);
    later(GRACE_MS + 1000);
    expect(await errorOf(await client.refresh(stolen))).toBe("invalid_grant");
    await expect(whoCalls(own.access_token)).rejects.toMatchObject(REFUSED);
    expect(await errorOf(await client.refresh(own))).toBe("invalid_grant");
    expect(await grantIds(ann)).not.toContain(grant);
    vi.useRealTimers();
  }
});

it("a made-up token ends nothing", async () => {
  const own = await client.connect(ann, laptop);
  const made = own.refresh_token.replace(/.{32}$/, "a".repeat(32));
  expect(await errorOf(await client.refresh({ ...own, refresh_token: made }))).toBe("invalid_grant");
  await refreshed(own);
});

it("a code that names another grant leads no old token to that one", async () => {
  const [attacker, bystander] = [await client.connect(ann, laptop), await client.connect(ann, laptop)];
  await refreshed(attacker);
  later(GRACE_MS + 1000);
  const [account, grant] = bystander.refresh_token.split(":");
  const code = `${account}:${grant}:any`;
  expect(await errorOf(await client.refresh(attacker, { code }))).toBe("invalid_grant");
  await refreshed(bystander);
});

it("the successor is for the client alone that asked first, and for what it may ask", async () => {
  const shared = await client.connect(ann, laptop);
  const next = await refreshed(shared);
  const other = await Client.register();
  expect(await errorOf(await other.refresh(shared))).toBe("invalid_grant");
  expect(await errorOf(await client.refresh(shared, { scope: "owner" }))).toBe("invalid_scope");
  const elsewhere = { resource: "https://relay.test/mcp/d/laptop-0000000000" };
  expect(await errorOf(await client.refresh(shared, elsewhere))).toBe("invalid_target");
  expect((await refreshed(shared)).refresh_token).toBe(next.refresh_token);
});

it("a client with a secret gets the successor by its secret alone", async () => {
  const made = await register({ token_endpoint_auth_method: "client_secret_post" });
  const { client_id, client_secret } = await made.json<{ client_id: string; client_secret: string }>();
  const secretive = new Client(client_id);
  const traded = await secretive.trade(await secretive.letIn(ann, laptop), { client_secret });
  const shared = await traded.json<Tokens>();
  const first = await (await secretive.refresh(shared, { client_secret })).json<Tokens>();
  expect(await errorOf(await secretive.refresh(shared, { client_secret: "a guess" }))).toBe("invalid_client");
  expect(await errorOf(await secretive.refresh(shared))).toBe("invalid_client");
  const second = await (await secretive.refresh(shared, { client_secret })).json<Tokens>();
  expect(second.refresh_token).toBe(first.refresh_token);
});

it("what was answered is kept for the minute, sealed, and goes with the grant", async () => {
  const eve = await Person.signIn();
  const shared = await client.connect(eve, (await eve.bareDevice("notebook")).id);
  const next = await refreshed(shared);
  const store = grantStore(env.OAUTH_STORE, eve.account as AccountId);
  const rows = () =>
    runInDurableObject(store, (_, { storage }) => storage.sql.exec("SELECT answer FROM replaced").toArray());
  const [{ answer } = {}] = await rows();
  expect(answer).toMatch(/^[\w.-]+$/);
  expect(answer).not.toContain(next.refresh_token.split(":")[2]);
  later(GRACE_MS + 1000);
  await runDurableObjectAlarm(store);
  expect(await rows()).toEqual([{ answer: null }]);
  await client.revoke(next.refresh_token);
  expect(await rows()).toEqual([]);
});

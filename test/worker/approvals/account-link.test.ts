/** The account link: a person's open screens are told of approvals, and nobody else is. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Account } from "../../../worker/account/account.ts";
import { askedHome, askFor, decide, TestScreen, waiting } from "../helpers/approvals.ts";
import { bearer } from "../helpers/relay.ts";
import { ask, ORIGIN } from "../helpers/request.ts";

afterEach(() => {
  vi.useRealTimers();
});

it("tells what waits, what is new, and what became of it, also after a sleep", async () => {
  const home = await askedHome();
  const { person } = home;
  const { approval } = await askFor(home, "1");
  const screen = await TestScreen.open(bearer(person.accessToken));
  expect(await screen.nextJson()).toEqual({
    ...{ type: "hello", protocol: 1, account: person.account },
    pause: { paused: false, changed: null, changed_by: null, devices: 1, devices_told: 1 },
  });
  expect(await screen.news()).toMatchObject({ id: approval, state: "pending", grant_name: "test" });
  await decide(home, approval, { decision: "deny" });
  expect(await screen.news()).toMatchObject({ id: approval, state: "denied", decided_by: "A browser" });
  await evictDurableObject(env.ACCOUNT.getByName(person.account));
  const second = await askFor({ ...home, caller: await denied(home) }, "2");
  expect(await screen.news()).toMatchObject({ id: second.approval, state: "pending" });
  screen.send({ action: "ping" });
  expect(await screen.nextJson()).toEqual({ type: "pong" });
  screen.send({ action: "approve" });
  expect(await screen.nextJson()).toMatchObject({ type: "error", code: "INVALID_PARAMETERS" });
});

/** The answer to the first call is read. */
async function denied({ caller }: Awaited<ReturnType<typeof askedHome>>) {
  expect(await caller.nextJson()).toMatchObject({ code: "APPROVAL_DENIED" });
  return caller;
}

describe("is not for", () => {
  it("tokens, other pages, tickets, or requests without a credential", async () => {
    const { person, token, identity } = await askedHome();
    const open = (headers: Record<string, string>, query = "") =>
      ask(`/v1/account/ws${query}`, { headers: { Upgrade: "websocket", ...headers } });
    const script = await person.token({ access: "full" });
    for (const one of [token, script.token]) expect((await open(bearer(one))).status).toBe(403);
    expect((await open({ Cookie: person.cookie, Origin: ORIGIN })).status).toBe(401);
    expect((await open({})).status).toBe(401);
    const { ticket } = await person.post<{ ticket: string }>("/v1/tickets", { device: identity.id });
    expect((await open({}, `?ticket=${ticket}`)).status).toBe(403);
    expect((await person.ask("/v1/account/ws")).status).toBe(400);
  });

  it("a person who signed out", async () => {
    const { person } = await askedHome();
    const screen = await TestScreen.open(bearer(person.accessToken));
    await person.ask("/v1/sign-out", { method: "POST" });
    expect((await screen.closed).code).toBe(4403);
  });

  it("a session that has expired", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const { person } = await askedHome();
    const screen = await TestScreen.open(bearer(person.accessToken));
    vi.setSystemTime(Date.now() + 31 * 24 * 60 * 60_000);
    screen.send({ action: "ping" });
    expect((await screen.closed).code).toBe(4401);
  });
});

it("knows the newest state, in whatever order a device's news arrives", async () => {
  const home = await askedHome();
  const { approval } = await askFor(home, "1");
  const account = env.ACCOUNT.getByName(home.person.account);
  const [pending] = (await (await home.person.ask("/v1/approvals")).json<{ approvals: { id: string }[] }>())
    .approvals;
  expect(pending?.id).toBe(approval);
  await decide(home, approval, { decision: "deny" });
  await vi.waitFor(async () =>
    expect(await (await home.person.ask("/v1/approvals")).json()).toEqual({ approvals: [] }),
  );
  await runInDurableObject(account, (instance) => instance.noteApproval(pending as never));
  expect(await (await home.person.ask("/v1/approvals")).json()).toEqual({ approvals: [] });
});

it("remembers only so many of those that are over, however fast an AI asks and cancels", async () => {
  const home = await askedHome();
  const { approval } = await askFor(home, "1");
  const [first] = await waiting(home.person);
  const left = await runInDurableObject(
    env.ACCOUNT.getByName(home.person.account),
    (account: Account, { storage }) => {
      for (let n = 0; n < 1100; n++)
        if (first) account.noteApproval({ ...first, id: `approval_${n}`, state: "cancelled" });
      return storage.sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM approvals").one().n;
    },
  );
  expect(left).toBe(1001);
  expect(await waiting(home.person)).toMatchObject([{ id: approval }]);
});

/** Notifications of calls that wait for a decision: sent if they wait, withdrawn once they no longer do, and never more than that. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { ApprovalView } from "@matrx/shared/approval.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import type { PushMessage } from "@matrx/shared/push-message.ts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type AskedHome, askedHome, askFor, decide, waiting } from "../helpers/approvals.ts";
import { sweepAt } from "../helpers/home.ts";
import { later, type Posted, PushServices, patch, subscribe } from "../helpers/push.ts";
import { type Person, Person as Persons } from "../helpers/relay.ts";
import { countRows } from "../helpers/written-rows.ts";

let services: PushServices;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  services = PushServices.start();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** An AI's call waits, and the account knows. */
async function asked(home: AskedHome, id = "1", input?: unknown): Promise<ApprovalView> {
  const { approval } = await askFor(home, id, input);
  return vi.waitFor(async () => {
    const found = (await waiting(home.person)).find((one) => one.id === approval);
    if (!found) throw new Error("the account was not told yet");
    return found;
  });
}

/** Decides it, and the account knows. */
async function decided(
  { person, ...home }: AskedHome,
  approval: ApprovalView,
  decision: string,
): Promise<void> {
  const answer = await decide({ person, ...home }, approval.id, { decision });
  expect(answer.status).toBe(200);
  await vi.waitFor(async () => expect(await waiting(person)).not.toMatchObject([{ id: approval.id }]));
}

/** What the account is told of approvals that there need not be. */
async function told(person: Person, ...approvals: ApprovalView[]): Promise<void> {
  await runInDurableObject(env.ACCOUNT.getByName(person.account), (account) => {
    for (const approval of approvals) account.noteApproval(approval);
  });
}

function rows(person: Person): Promise<{ about: string; tries: number; due: number | null }[]> {
  return runInDurableObject(env.ACCOUNT.getByName(person.account), (_, { storage: { sql } }) =>
    sql
      .exec<{ about: string; tries: number; due: number | null }>(
        "SELECT about, tries, due FROM push_messages ORDER BY id",
      )
      .toArray(),
  );
}

const states = (messages: PushMessage[]) =>
  messages.map((message) => (message.kind === "approval" ? message.state : message.kind));

describe("a call that waits", () => {
  it("is told after two seconds: the machine and the tool, and nothing that was asked", async () => {
    const home = await askedHome();
    const { browser } = await subscribe(home.person);
    const { id } = await asked(home, "1", { command: "deploy --password hunter2" });
    await later(home.person, 1);
    expect(services.posted).toEqual([]);
    await later(home.person, 1);
    expect(await services.messagesTo(browser)).toEqual([
      {
        ...{ kind: "approval", state: "pending", approval: id, device: home.identity.id, machine: "home" },
        ...{ tool: "Bash", at_machine: false },
      },
    ]);
    const [posted] = services.posted;
    expect(posted?.headers).toMatchObject({ urgency: "high" });
    expect(Number(posted?.headers.ttl)).toBeGreaterThan(500);
    expect(Number(posted?.headers.ttl)).toBeLessThanOrEqual(600);
    await later(home.person, 60);
    expect(services.posted.length).toBe(1);
  });

  it("is not told if somebody decides it at once", async () => {
    const home = await askedHome();
    await subscribe(home.person);
    const approval = await asked(home);
    await decided(home, approval, "deny");
    expect(await rows(home.person)).toEqual([]);
    await later(home.person, 5);
    expect(services.posted).toEqual([]);
  });

  it("is withdrawn when somebody decides it elsewhere: the same topic, so that one replaces the other", async () => {
    const home = await askedHome();
    const { browser } = await subscribe(home.person);
    const approval = await asked(home);
    await later(home.person, 2);
    await decided(home, approval, "allow");
    await later(home.person, 0);
    expect(states(await services.messagesTo(browser))).toEqual(["pending", "allowed"]);
    const topics = services.posted.map(({ headers }) => headers.topic);
    expect(new Set(topics).size).toBe(1);
    expect(await rows(home.person)).toEqual([]);
  });

  it("is withdrawn also if it was decided while it was being sent", async () => {
    const home = await askedHome();
    const { browser } = await subscribe(home.person);
    const approval = await asked(home);
    services.answer = async () => {
      services.answer = () => new Response(null, { status: 201 });
      await told(home.person, { ...approval, state: "denied", decided: new Date().toISOString() });
      return new Response(null, { status: 201 });
    };
    await later(home.person, 2);
    await later(home.person, 0);
    expect(states(await services.messagesTo(browser))).toEqual(["pending", "denied"]);
    expect(await rows(home.person)).toEqual([]);
  });

  it("is not told if it was decided while others were being told", async () => {
    const home = await askedHome();
    const { browser } = await subscribe(home.person);
    const first = await asked(home);
    const others = Array.from({ length: 9 }, (_, n) => ({ ...first, id: `approval_${n}` }));
    await told(home.person, ...others);
    let deciding: Promise<void> | undefined;
    services.answer = async () => {
      deciding ??= told(home.person, { ...first, id: "approval_8", state: "denied" });
      await deciding;
      return new Response(null, { status: 201 });
    };
    await later(home.person, 2);
    await later(home.person, 0);
    const ids = (await services.messagesTo(browser)).map(
      (message) => "approval" in message && message.approval,
    );
    expect(ids.length).toBe(9);
    expect(ids).not.toContain("approval_8");
  });

  it("is withdrawn when its time is over, also after all objects have slept", async () => {
    const home = await askedHome();
    const { browser } = await subscribe(home.person);
    await asked(home);
    await evictDurableObject(env.ACCOUNT.getByName(home.person.account));
    await later(home.person, 2);
    await evictDurableObject(env.ACCOUNT.getByName(home.person.account));
    vi.setSystemTime(Date.now() + 600_000);
    await sweepAt(home.identity.id, Date.now());
    await vi.waitFor(async () => {
      await later(home.person, 0);
      expect(states(await services.messagesTo(browser))).toEqual(["pending", "expired"]);
    });
  });

  it("is withdrawn with its device", async () => {
    const home = await askedHome();
    const { browser } = await subscribe(home.person);
    await asked(home);
    await later(home.person, 2);
    await home.person.ask(`/v1/devices/${home.identity.id}`, { method: "DELETE" });
    await later(home.person, 0);
    const messages = await services.messagesTo(browser);
    expect(messages).toMatchObject([{ state: "pending" }, { state: "cancelled", machine: "home" }]);
  });

  it("says if only somebody at the machine can decide", async () => {
    const home = await askedHome();
    const { browser } = await subscribe(home.person);
    const approval = await asked(home);
    await told(home.person, { ...approval, id: "approval_at_machine", at: "machine" });
    await later(home.person, 2);
    expect(await services.messagesTo(browser)).toMatchObject([{ at_machine: false }, { at_machine: true }]);
  });

  it("is told in each browser that wants approvals, under topics that have nothing in common", async () => {
    const home = await askedHome();
    const [second, third] = [
      await Persons.signIn(home.person.account),
      await Persons.signIn(home.person.account),
    ];
    const { browser: one } = await subscribe(home.person);
    const { browser: two } = await subscribe(second, { kinds: ["approvals"] });
    const { browser: other } = await subscribe(third, { kinds: ["alerts", "finished"] });
    const approval = await asked(home);
    await later(home.person, 2);
    await decided(home, approval, "deny");
    await later(home.person, 0);
    for (const browser of [one, two])
      expect(states(await services.messagesTo(browser))).toEqual(["pending", "denied"]);
    expect(await services.messagesTo(other)).toEqual([]);
    expect(new Set(services.posted.map(({ headers }) => headers.topic)).size).toBe(2);
  });

  it("is not told in a browser that signed out meanwhile", async () => {
    const home = await askedHome();
    const second = await Persons.signIn(home.person.account);
    await subscribe(second);
    await asked(home);
    await second.ask("/v1/sign-out", { method: "POST" });
    expect(await rows(home.person)).toEqual([]);
    await later(home.person, 2);
    expect(services.posted).toEqual([]);
  });

  it("costs an account without subscriptions nothing more than before", async () => {
    const home = await askedHome();
    const approval = await asked(home);
    const written = await runInDurableObject(
      env.ACCOUNT.getByName(home.person.account),
      (account, { storage }) => {
        const count = countRows(storage);
        account.noteApproval({ ...approval, id: "approval_other" });
        return count.rows;
      },
    );
    // The approval itself.
    expect(written).toBe(1);
    expect(await rows(home.person)).toEqual([]);
  });
});

describe("in quiet hours", () => {
  const quiet = (approvals: boolean) => ({
    quiet_hours: { from: "00:00", to: "23:59", time_zone: "UTC", approvals },
  });

  beforeEach(() => {
    vi.setSystemTime(new Date(Date.now() + 86_400_000).setUTCHours(12, 0, 0, 0));
  });

  it("nothing is sent, nor later", async () => {
    const home = await askedHome();
    const { browser } = await subscribe(home.person);
    await patch(home.person, "/v1/push", quiet(false));
    await asked(home);
    await later(home.person, 2);
    await patch(home.person, "/v1/push", { quiet_hours: null });
    await later(home.person, 2);
    expect(services.posted).toEqual([]);
    await home.person.post("/v1/push/test", {});
    expect(await services.messagesTo(browser)).toEqual([{ kind: "test" }]);
  });

  it("approvals are sent all the same if the person says so, and nothing else", async () => {
    const home = await askedHome();
    const { browser } = await subscribe(home.person);
    await patch(home.person, "/v1/push", quiet(true));
    await asked(home);
    await runInDurableObject(env.ACCOUNT.getByName(home.person.account), (account) =>
      account.noteLongCalls(home.identity.id as never, [{ call: "c", tool: "Bash", status: "success" }]),
    );
    await later(home.person, 2);
    expect(states(await services.messagesTo(browser))).toEqual(["pending"]);
  });

  it("what was told before is still withdrawn", async () => {
    const home = await askedHome();
    const { browser } = await subscribe(home.person);
    const approval = await asked(home);
    await later(home.person, 2);
    await patch(home.person, "/v1/push", quiet(false));
    await decided(home, approval, "deny");
    await later(home.person, 0);
    expect(states(await services.messagesTo(browser))).toEqual(["pending", "denied"]);
  });
});

describe("a push service that", () => {
  /** Sends a message about a call, and lets so many seconds pass step by step; returns when it was posted. */
  async function postedAt(answer: (posted: Posted) => Response | Promise<Response>, seconds: number) {
    const home = await askedHome();
    await subscribe(home.person);
    services.answer = answer;
    await asked(home);
    const start = Date.now();
    const times: number[] = [];
    for (let second = 1; second <= seconds; second++) {
      const before = services.posted.length;
      await later(home.person, 1);
      if (services.posted.length > before) times.push(Math.round((Date.now() - start) / 1000));
    }
    return { times, person: home.person };
  }

  it.each([404, 410])("answers %i has forgotten the browser: so does the relay", async (status) => {
    const { times, person } = await postedAt(() => new Response(null, { status }), 10);
    expect(times).toEqual([2]);
    const { subscriptions } = await (await person.ask("/v1/push")).json<{ subscriptions: unknown[] }>();
    expect(subscriptions).toEqual([]);
    expect(await rows(person)).toEqual([]);
  });

  it.each([
    ["answers 500", () => new Response(null, { status: 500 })],
    ["can't be reached", () => Promise.reject(new TypeError("nobody is there"))],
  ])("%s is tried five times, later each time, and then no more", async (_, answer) => {
    const { times, person } = await postedAt(answer, 450);
    expect(times).toEqual([2, 7, 27, 107, 427]);
    expect(await rows(person)).toEqual([]);
  });

  it("says when to come again is believed", async () => {
    const headers = { "Retry-After": "60" };
    const { times } = await postedAt(() => new Response(null, { status: 429, headers }), 130);
    expect(times).toEqual([2, 62, 122]);
  });

  it("says so by a date is believed, too", async () => {
    const answer = () => {
      const headers = { "Retry-After": new Date(Date.now() + 30_000).toUTCString() };
      return new Response(null, { status: 503, headers });
    };
    const { times } = await postedAt(answer, 40);
    expect(times[0]).toBe(2);
    expect(times[1]).toBeGreaterThanOrEqual(31);
    expect(times[1]).toBeLessThanOrEqual(33);
  });

  it("wants to be left alone for longer than the message is of use gets it no more", async () => {
    const headers = { "Retry-After": "86400" };
    const { times, person } = await postedAt(() => new Response(null, { status: 429, headers }), 5);
    expect(times).toEqual([2]);
    expect(await rows(person)).toEqual([]);
  });

  it.each([400, 401, 403, 413])("refuses with %i is not tried again", async (status) => {
    const { times, person } = await postedAt(() => new Response(null, { status }), 20);
    expect(times).toEqual([2]);
    expect(await (await person.ask("/v1/push")).json()).toMatchObject({
      subscriptions: [{ problem: `Its push service answered ${status}` }],
    });
  });

  it("fails once gets the message the second time, and what failed is forgotten", async () => {
    let tries = 0;
    const { times, person } = await postedAt(
      () => new Response(null, { status: ++tries === 1 ? 502 : 201 }),
      20,
    );
    expect(times).toEqual([2, 7]);
    expect(await (await person.ask("/v1/push")).json()).toMatchObject({ subscriptions: [{ problem: null }] });
  });
});

it("a push service is shown the same token for some hours, and then another", async () => {
  const home = await askedHome();
  await subscribe(home.person);
  const approval = await asked(home);
  await later(home.person, 2);
  for (const hours of [1, 4, 2]) {
    vi.setSystemTime(Date.now() + hours * 3_600_000);
    const expires = new Date(Date.now() + 600_000).toISOString();
    await told(home.person, { ...approval, id: `approval_${hours}`, expires });
    await later(home.person, 2);
  }
  const [first, ...others] = services.posted.map(({ headers }) => headers.authorization);
  expect(others.map((token) => token === first)).toEqual([true, true, false]);
});

describe("an AI that asks and cancels without end", () => {
  it("at once makes no phone ring, and takes nothing from others", async () => {
    const home = await askedHome();
    await subscribe(home.person);
    const approval = await asked(home);
    for (let n = 0; n < 3 * LIMITS.pushBurst; n++) {
      const one = { ...approval, id: `approval_${n}` };
      await told(home.person, one, { ...one, state: "cancelled" });
    }
    expect(await rows(home.person)).toMatchObject([{ about: `approval ${approval.id}` }]);
    await later(home.person, 2);
    expect(services.posted.length).toBe(1);
  });

  it("after a while makes it ring only so often", async () => {
    const home = await askedHome();
    const { browser } = await subscribe(home.person);
    const approval = await asked(home);
    const many = Array.from({ length: LIMITS.pushBurst + 20 }, (_, n) => ({ ...approval, id: `one_${n}` }));
    await told(home.person, ...many);
    await later(home.person, 2);
    for (let round = 0; round < 10; round++) await later(home.person, 0);
    expect(states(await services.messagesTo(browser))).toEqual(Array(LIMITS.pushBurst).fill("pending"));
    await told(home.person, ...many.map((one) => ({ ...one, state: "cancelled" as const })));
    for (let round = 0; round < 10; round++) await later(home.person, 0);
    // What was told is withdrawn all the same.
    expect(services.posted.length).toBeGreaterThanOrEqual(2 * LIMITS.pushBurst - 1);
  });
});

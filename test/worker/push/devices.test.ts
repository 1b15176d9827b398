/** Notifications of what devices report, and of calls that took long. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { DeviceEvent } from "@matrx/shared/events.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Account } from "../../../worker/account/account.ts";
import { TestCaller } from "../helpers/caller.ts";
import { type Home, home, object, sweepAt } from "../helpers/home.ts";
import { later, type PushBrowser, PushServices, subscribe } from "../helpers/push.ts";
import { recordWith } from "../helpers/record.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

let services: PushServices;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  services = PushServices.start();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function watchedHome(): Promise<Home & { browser: PushBrowser }> {
  const here = await home();
  const { browser } = await subscribe(here.person);
  return { ...here, browser };
}

/** What the account has heard by now is sent. */
async function settled({ person }: Pick<Home, "person">): Promise<void> {
  // A device tells by a call of its own, which nobody waits for.
  await new Promise((resolve) => setTimeout(resolve, 100));
  await later(person, 0);
}

describe("an event that warns", () => {
  const low: Partial<DeviceEvent> = {
    ...{ event_type: "low_disk_space", key: "/srv/secret-project", severity: "warning" },
    data: { message: "2 GB left of /srv/secret-project" },
  };

  /** The device reports it, and all that follows has happened. */
  async function report(here: Home, event: Partial<DeviceEvent>): Promise<void> {
    here.device.send({ type: "event", ...event });
    here.device.send({ type: "user_query", query: "?" });
    await here.device.expect("assistant_response");
    await settled(here);
  }

  it("is told by its type, and neither what it is about nor its data", async () => {
    const here = await watchedHome();
    await report(here, low);
    expect(await services.messagesTo(here.browser)).toEqual([
      {
        ...{ kind: "alert", device: here.identity.id, machine: "home", event_type: "low_disk_space" },
        severity: "warning",
      },
    ]);
    expect(services.posted[0]?.headers).toMatchObject({ urgency: "normal", ttl: String(12 * 60 * 60) });
  });

  it("is told once for each condition while that lasts, and again when it is worse", async () => {
    const here = await watchedHome();
    await report(here, low);
    await report(here, low);
    expect(services.posted.length).toBe(1);
    await report(here, { ...low, key: "/home" });
    expect(services.posted.length).toBe(2);
    await report(here, { ...low, severity: "critical" });
    expect(services.posted.map(({ headers }) => headers.urgency)).toEqual(["normal", "normal", "high"]);
    expect(services.posted[2]?.headers.topic).toBe(services.posted[0]?.headers.topic);
    await report(here, { ...low, severity: "critical" });
    expect(services.posted.length).toBe(3);
  });

  it("that comes and goes is told once in ten minutes, also after sleep", async () => {
    const here = await watchedHome();
    for (let round = 0; round < 3; round++) {
      await report(here, low);
      await report(here, { ...low, resolved: true });
      vi.setSystemTime(Date.now() + 60_000);
    }
    await evictDurableObject(object(here.identity.id));
    await report(here, low);
    expect(services.posted.length).toBe(1);
    await report(here, { ...low, resolved: true });
    vi.setSystemTime(Date.now() + 600_000);
    await report(here, low);
    expect(services.posted.length).toBe(2);
  });

  it("without a key, as bare devices send it, is told once in ten minutes", async () => {
    const here = await watchedHome();
    const { key: _, ...keyless } = low;
    await report(here, keyless);
    await report(here, keyless);
    expect(services.posted.length).toBe(1);
    vi.setSystemTime(Date.now() + 600_000);
    await report(here, keyless);
    expect(services.posted.length).toBe(2);
  });

  it.each([
    { ...low, severity: "info" },
    { ...low, severity: "dreadful" },
    { event_type: "new_file_detected", data: {} },
    { ...low, resolved: true },
  ])("is none: %o", async (event) => {
    const here = await watchedHome();
    await report(here, event);
    expect(services.posted).toEqual([]);
  });

  it("is not told where nobody wants alerts", async () => {
    const here = await home();
    await subscribe(here.person, { kinds: ["approvals", "finished"] });
    await report(here, low);
    expect(services.posted).toEqual([]);
  });

  it("is told also if the account could not be reached at first", async () => {
    const here = await watchedHome();
    const noteAlert = vi.spyOn(Account.prototype, "noteAlert").mockImplementationOnce(() => {
      throw new Error("reset");
    });
    await report(here, low);
    expect(noteAlert).toHaveBeenCalledTimes(1);
    expect(services.posted).toEqual([]);
    vi.setSystemTime(Date.now() + 10_000);
    await runInDurableObject(object(here.identity.id), (device) => device.alarm());
    await settled(here);
    expect(await services.messagesTo(here.browser)).toMatchObject([{ kind: "alert" }]);
  });

  it("of a device that was removed is not told", async () => {
    const here = await watchedHome();
    const account = env.ACCOUNT.getByName(here.person.account);
    await runInDurableObject(account, (instance) =>
      instance.noteAlert("gone-0123456789" as never, {
        ...{ event_type: "x", key: null, severity: "critical", at: Date.now() },
      }),
    );
    await settled(here);
    expect(services.posted).toEqual([]);
  });
});

describe("a call that took long", () => {
  /** A call by socket that the device answers after so many seconds, by its own clock. */
  async function callFor(
    here: Home,
    seconds: number,
    { tool = "Bash", ...header }: Partial<ResultHeader> = {},
  ): Promise<string> {
    here.caller.send({ id: "1", tool, input: { command: "make secret-thing" }, timeout_ms: 600_000 });
    const execute = await here.device.expect("tool_execute");
    vi.setSystemTime(Date.now() + seconds * 1000);
    here.device.answer(execute, "done: hunter2", { ms: seconds * 1000, ...header });
    await here.caller.nextJson();
    await recordWith(here.person, 1, { type: "call" });
    await settled(here);
    return execute.tool_call_id;
  }

  it.each(["Bash", "Read"])(
    "is told at its end by its tool (%s), and nothing of what it did",
    async (tool) => {
      const here = await watchedHome();
      const call = await callFor(here, 61, { tool });
      expect(await services.messagesTo(here.browser)).toEqual([
        { kind: "finished", device: here.identity.id, machine: "home", call, tool, status: "success" },
      ]);
    },
  );

  it("says that it failed", async () => {
    const here = await watchedHome();
    await callFor(here, 100, { status: "error", code: "TOOL_EXECUTION_FAILED" });
    expect(await services.messagesTo(here.browser)).toMatchObject([{ status: "error" }]);
  });

  it.each<[string, number, Partial<ResultHeader>]>([
    ["took less than a minute", 59, {}],
    ["was cancelled", 100, { status: "cancelled", code: "CANCELLED" }],
  ])("is none if it %s", async (_, seconds, header) => {
    const here = await watchedHome();
    await callFor(here, seconds, header);
    expect(services.posted).toEqual([]);
  });

  it("is none if somebody watches it all the time, as a wait for output", async () => {
    const here = await watchedHome();
    here.device.send({
      ...{ type: "manifest", hash: "other" },
      tools: [{ name: "BashOutput", description: "Reads", effect: "read", input_schema: { type: "object" } }],
    });
    await callFor(here, 100, { tool: "BashOutput" });
    expect(services.posted).toEqual([]);
  });

  it("is told although its caller left and all objects slept meanwhile", async () => {
    const here = await watchedHome();
    const { token } = await here.person.grant({ paths: null, ask: [] });
    const caller = await TestCaller.connect(here.identity.id, token);
    caller.send({ id: "1", tool: "Write", input: {}, timeout_ms: 600_000 });
    const execute = await here.device.expect("tool_execute");
    caller.close();
    await caller.closed;
    // Its timers keep it awake for the first seconds of a call.
    vi.setSystemTime(Date.now() + 6_000);
    await sweepAt(here.identity.id, Date.now());
    await evictDurableObject(object(here.identity.id));
    await evictDurableObject(env.ACCOUNT.getByName(here.person.account));
    vi.setSystemTime(Date.now() + 90_000);
    here.device.answer(execute, "done", { ms: 90_000 });
    // The record knows already that it began.
    await recordWith(here.person, 2, { type: "call" });
    await settled(here);
    expect(await services.messagesTo(here.browser)).toMatchObject([{ kind: "finished", tool: "Write" }]);
  });
});

it("another account is told nothing of all that", async () => {
  const here = await watchedHome();
  const stranger = await Person.signIn();
  const { browser } = await subscribe(stranger);
  here.device.send({ type: "event", event_type: "service_down", key: "web", severity: "critical" });
  const calling = ask(`/v1/devices/${here.identity.id}/tools/Read`, json({}, bearer(here.token)));
  await here.device.serve("done");
  await calling;
  await settled(here);
  await later(stranger, 5);
  expect(await services.messagesTo(browser)).toEqual([]);
});

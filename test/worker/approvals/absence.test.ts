/** A question whose caller is gone is withdrawn, unless the caller can come back for the answer. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { makeCallId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type AskedHome, approvalOf, askedHome, decide, recordOf, waiting } from "../helpers/approvals.ts";
import { TestCaller } from "../helpers/caller.ts";
import { object, sweepAt } from "../helpers/home.ts";
import { say, sessionAt } from "../helpers/mcp.ts";
import { bearer, json } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

const ALLOW = { decision: "allow" };
const SESSION = "0123456789abcdef";
const SIGN = { type: "call_status", calls: [] };
const INPUT = { command: "make" };

afterEach(() => {
  vi.useRealTimers();
});

/** A home in which time passes by `later` alone. */
async function stillHome(): Promise<AskedHome> {
  const home = await askedHome();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  return home;
}

/** Time passes, and the device gives signs of life, as it is asked to. */
async function later({ identity, device }: AskedHome, ms: number): Promise<void> {
  const end = Date.now() + ms;
  while (Date.now() < end) {
    device.send(SIGN);
    await runInDurableObject(object(identity.id), () => undefined);
    vi.setSystemTime(Math.min(end, Date.now() + 20_000));
    await sweepAt(identity.id, Date.now());
  }
}

/** The one question that waits. */
async function question(home: AskedHome) {
  await home.device.prepare();
  await expect.poll(() => waiting(home.person)).toHaveLength(1);
  const [{ id = "", call = "" } = {}] = await waiting(home.person);
  return { id, call };
}

/** In a session that it names, as a client does that comes back. */
async function byGuide({ identity, token }: AskedHome, message: object = {}): Promise<TestCaller> {
  const caller = await TestCaller.connect(identity.id, token, { query: `?session=${SESSION}` });
  caller.send({ id: "1", tool: "Bash", input: INPUT, ...message });
  return caller;
}

async function hangUp(caller: TestCaller): Promise<void> {
  caller.close();
  await caller.closed;
}

function byRest({ identity, token }: AskedHome, headers: Record<string, string> = {}): Promise<Response> {
  return ask(`/v1/devices/${identity.id}/tools/Bash`, json(INPUT, { ...bearer(token), ...headers }));
}

/** Lets a request go, as a client whose time is over does. */
async function letGo(response: Promise<Response>): Promise<void> {
  await (await response).body?.cancel();
}

/** Nobody waits for a call any more, as the relay knows. */
function isLeft(home: AskedHome): Promise<void> {
  return areWaiting(home, 0);
}

async function areWaiting({ identity }: AskedHome, count: number): Promise<void> {
  const recipients = () =>
    runInDurableObject(object(identity.id), (instance) => instance.diagnostics().recipients);
  await expect.poll(recipients).toBe(count);
}

/** The device runs the next call. */
async function served({ device }: AskedHome, output: string): Promise<void> {
  device.send(SIGN);
  await device.serve(output);
}

/** Asks; what it returns leaves. */
type Leaving = (home: AskedHome) => Promise<() => Promise<void>>;

const call = { method: "tools/call", params: { name: "Bash", arguments: INPUT } };

/** Who asks and leaves without an answer, and can't ask for it later. */
const STRANDED: Record<string, Leaving> = {
  async "a socket of the guide"(home) {
    const caller = await byGuide(home);
    return () => hangUp(caller);
  },
  async "a request that was gone before it was told the call's name"(home) {
    const asked = byRest(home, { Prefer: "wait=1" });
    return async () => {
      await later(home, 1000);
      await letGo(asked);
    };
  },
  async "a session of MCP at a device"(home) {
    const path = `/mcp/d/${home.identity.id}`;
    const asked = say(path, home.token, { id: 2, ...call }, await sessionAt(path, home.token));
    return () => letGo(asked);
  },
  async "a session of MCP at all devices"({ identity, token }) {
    const params = { name: "Bash", arguments: { ...INPUT, device: identity.id } };
    const asked = say("/mcp", token, { id: 2, ...call, params }, await sessionAt("/mcp", token));
    return () => letGo(asked);
  },
};

describe("the question of a caller that is gone is withdrawn", () => {
  it.each(Object.entries(STRANDED))("after a while, and the person is told why: %s", async (_, begin) => {
    const home = await stillHome();
    const leave = await begin(home);
    const { id, call } = await question(home);
    await leave();
    await isLeft(home);
    await later(home, TIMES.callerGone - 1);
    expect(await waiting(home.person)).toHaveLength(1);
    await later(home, 1);
    await expect.poll(() => waiting(home.person)).toEqual([]);
    expect(await approvalOf(home, id)).toMatchObject({ state: "cancelled", caller_gone: true });
    const answer = await decide(home, id, ALLOW);
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ detail: expect.stringContaining("caller is gone") });
    expect(await recordOf(home, call)).toMatchObject({ state: "expired", code: "CANCELLED" });
    const answering = home.caller.call("Read");
    await served(home, "nothing else came");
    await answering;
  });

  it("also if the relay sleeps meanwhile", async () => {
    const home = await stillHome();
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() });
    const caller = await byGuide(home);
    const { id } = await question(home);
    await hangUp(caller);
    await later(home, TIMES.callerGone / 2);
    await evictDurableObject(object(home.identity.id));
    await later(home, TIMES.callerGone / 2);
    expect(await approvalOf(home, id)).toMatchObject({ state: "cancelled", caller_gone: true });
  });

  it("but one that was answered before is not: the call runs, and its outcome is kept", async () => {
    const home = await stillHome();
    const caller = await byGuide(home);
    const { id, call } = await question(home);
    await hangUp(caller);
    expect((await decide(home, id, ALLOW)).status).toBe(200);
    await home.device.serve("made");
    await later(home, TIMES.callerGone);
    expect(await recordOf(home, call)).toMatchObject({ state: "finished" });
  });
});

/** Who asks and leaves, and can come back. */
const KNOWING: Record<string, Leaving> = {
  async "with its key"(home) {
    const caller = await byGuide(home, { idempotency_key: "k" });
    return () => hangUp(caller);
  },
  async "by the name that it was told at once"({ caller }) {
    caller.send({ id: "1", tool: "Bash", input: INPUT });
    return () => hangUp(caller);
  },
  async "by the name that it chose"(home) {
    const asked = byRest(home, { "Matrx-Call": makeCallId(Date.now()), Prefer: "wait=1" });
    return async () => {
      await later(home, 1000);
      await letGo(asked);
    };
  },
  async "by the name in the first event"({ identity, token }) {
    const headers = { ...bearer(token), Accept: "text/event-stream" };
    const asked = ask(`/v1/devices/${identity.id}/tools/Bash`, json(INPUT, headers));
    return () => letGo(asked);
  },
  async "by the name in the answer that it read"(home) {
    const asked = byRest(home, { Prefer: "wait=1" });
    return async () => {
      await later(home, 1000);
      expect(await (await asked).json()).toMatchObject({ state: "awaiting_approval" });
    };
  },
  async "by the name that MCP told it"(home) {
    const path = `/mcp/d/${home.identity.id}`;
    const asked = say(path, home.token, { id: 2, ...call }, await sessionAt(path, home.token));
    return async () => {
      await later(home, TIMES.mcpWait);
      expect(await (await asked).text()).toContain("wait_call");
    };
  },
};

it.each(Object.entries(KNOWING))(
  "the question of a caller that can come back stays: %s",
  async (_, begin) => {
    const home = await stillHome();
    const leave = await begin(home);
    const { id } = await question(home);
    await leave();
    await isLeft(home);
    await later(home, 2 * TIMES.callerGone);
    await later(home, 2 * TIMES.callerGone);
    expect((await decide(home, id, ALLOW)).status).toBe(200);
    await served(home, "made");
  },
);

describe("the same call asked again", () => {
  it("waits for the same question, and runs once", async () => {
    const home = await stillHome();
    const caller = await byGuide(home);
    const { id } = await question(home);
    await hangUp(caller);
    await isLeft(home);
    await later(home, TIMES.callerGone - 1);
    const again = byRest(home, { "Matrx-Session": SESSION });
    await areWaiting(home, 1);
    await later(home, TIMES.callerGone);
    expect(await waiting(home.person)).toMatchObject([{ id }]);
    await decide(home, id, ALLOW);
    await served(home, "made");
    expect(await (await again).json()).toMatchObject({ output: "made" });
    const other = home.caller.call("Read");
    await served(home, "nothing else came");
    await other;
  });

  it.each([
    ["somebody waits for the first", {}, false],
    ["the caller of the first can ask for that", { idempotency_key: "k" }, true],
    ["it has another input", { input: { command: "make test" } }, true],
  ])("is another one if %s", async (_, first, leaves) => {
    const home = await stillHome();
    const caller = await byGuide(home, first);
    await question(home);
    if (leaves) await hangUp(caller);
    const other = await byGuide(home);
    await home.device.prepare();
    await expect.poll(() => waiting(home.person)).toHaveLength(2);
    await Promise.all([caller, other].map(hangUp));
  });

  it("means the same one if a model makes it: it was told the name, or its client gave up without a word", async () => {
    const home = await stillHome();
    const path = `/mcp/d/${home.identity.id}`;
    const session = await sessionAt(path, home.token);
    const made = (id: number) => say(path, home.token, { id, ...call }, session);
    const first = made(2);
    const { id } = await question(home);
    await later(home, TIMES.repeatAfter);
    const second = made(3);
    await areWaiting(home, 2);
    await later(home, TIMES.mcpWait);
    for (const response of [first, second]) expect(await (await response).text()).toContain("wait_call");
    const third = made(4);
    await areWaiting(home, 1);
    await later(home, TIMES.callerGone);
    expect(await waiting(home.person)).toMatchObject([{ id }]);
    await decide(home, id, ALLOW);
    await served(home, "made");
    expect(await (await third).text()).toContain("made");
  });

  it("goes on if the first of its requests is cancelled", async () => {
    const home = await stillHome();
    const path = `/mcp/d/${home.identity.id}`;
    const session = await sessionAt(path, home.token);
    const first = say(path, home.token, { id: 2, ...call }, session);
    const { id } = await question(home);
    await later(home, TIMES.repeatAfter);
    const second = say(path, home.token, { id: 3, ...call }, session);
    await areWaiting(home, 2);
    const cancel = { id: undefined, method: "notifications/cancelled", params: { requestId: 2 } };
    await (await say(path, home.token, cancel, session)).text();
    await areWaiting(home, 1);
    expect(await (await first).text()).toBe("");
    await decide(home, id, ALLOW);
    await served(home, "made");
    expect(await (await second).text()).toContain("made");
  });

  it("means another one if a model makes it at the same moment", async () => {
    const home = await stillHome();
    const path = `/mcp/d/${home.identity.id}`;
    const session = await sessionAt(path, home.token);
    const both = [2, 3].map((id) => say(path, home.token, { id, ...call }, session));
    await home.device.prepare();
    await home.device.prepare();
    await expect.poll(() => waiting(home.person)).toHaveLength(2);
    await Promise.all(both.map(letGo));
  });
});

/** What happens to a call while it waits: each caller gets one answer, and without a yes nothing runs. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import type { ToDevice } from "@matrx/shared/device-frames.ts";
import { makeCallId } from "@matrx/shared/ids.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  type ApprovalFrame,
  type AskedHome,
  approvalOf,
  askedHome,
  askFor,
  decide,
  recordOf,
  setRights,
  tokenWith,
  waiting,
} from "../helpers/approvals.ts";
import { TestCaller } from "../helpers/caller.ts";
import { AgentDevice, BareDevice } from "../helpers/device.ts";
import { object, sweepAt } from "../helpers/home.ts";
import { bearer, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

const ALLOW = { decision: "allow" };

afterEach(() => {
  vi.useRealTimers();
});

/** No timer runs in the object from now on, so that it can be evicted: time passes by `later`. */
function stopTime(): void {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() });
}

async function later({ identity }: Pick<AskedHome, "identity">, ms = 0): Promise<void> {
  vi.setSystemTime(Date.now() + ms);
  await sweepAt(identity.id, Date.now());
}

async function restart(home: Pick<AskedHome, "identity">): Promise<void> {
  await evictDurableObject(object(home.identity.id));
  await later(home);
}

/** Asks again until it is so; while time stands still, no timer may run. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100; tries++) if (await isSo()) return;
  throw new Error("it is not so");
}

async function leave({ device }: AskedHome): Promise<void> {
  device.close();
  await device.closed;
}

describe("a call that waits ends", () => {
  it("when its caller cancels it: nothing is left to decide", async () => {
    const home = await askedHome();
    const { caller, device, person } = home;
    const { approval } = await askFor(home, "1");
    caller.send({ id: "1", action: "cancel" });
    expect(await caller.nextJson()).toMatchObject({ id: "1", code: "CANCELLED" });
    expect((await decide(home, approval, ALLOW)).status).toBe(409);
    await expect.poll(() => waiting(person)).toEqual([]);
    expect(device.unread).toBe(0);
  });

  it("when its grant is revoked", async () => {
    const home = await askedHome();
    const { approval } = await askFor(home, "1");
    await home.person.ask(`/v1/tokens/${home.grant}`, { method: "DELETE" });
    expect(await home.caller.nextJson()).toMatchObject({ id: "1", code: "UNAUTHENTICATED" });
    expect(await approvalOf(home, approval)).toMatchObject({ state: "cancelled" });
    expect(await home.device.expect("session_end")).toBeDefined();
    expect(home.device.unread).toBe(0);
  });

  it("when the policy changes, also if it was allowed and waits for the device", async () => {
    const home = await askedHome();
    const one = await askFor(home, "1");
    const two = await askFor(home, "2");
    await leave(home);
    await decide(home, two.approval, ALLOW);
    expect(await home.caller.nextJson()).toMatchObject({ id: "2", state: "allowed" });
    await home.person.setPolicy(home.identity.id, { denied_tools: ["Delete"] });
    expect(await home.caller.nextJson()).toMatchObject({ id: "1", code: "UNAVAILABLE" });
    expect(await home.caller.nextJson()).toMatchObject({ id: "2", code: "UNAVAILABLE" });
    for (const { approval } of [one, two])
      expect(await approvalOf(home, approval)).toMatchObject({ state: "cancelled" });
    const back = await AgentDevice.come(home.identity);
    const answering = home.caller.call("Read");
    await back.serve("nothing else came");
    await answering;
  });

  it("when nobody decides in time, by alarm", async () => {
    stopTime();
    const home = await askedHome();
    const { approval, call } = await askFor(home, "1");
    await restart(home);
    vi.setSystemTime(Date.now() + TIMES.approval);
    expect((await decide(home, approval, ALLOW)).status).toBe(409);
    await runDurableObjectAlarm(object(home.identity.id));
    expect(await home.caller.nextJson()).toMatchObject({ id: "1", code: "APPROVAL_EXPIRED" });
    expect(await recordOf(home, call)).toMatchObject({ state: "expired", approval: { state: "expired" } });
    expect(await (await decide(home, approval, ALLOW)).json()).toMatchObject({ state: "expired" });
  });

  it("when its device is removed", async () => {
    const home = await askedHome();
    await askFor(home, "1");
    await home.person.ask(`/v1/devices/${home.identity.id}`, { method: "DELETE" });
    expect(await home.caller.nextJson()).toMatchObject({ id: "1", code: "UNKNOWN_DEVICE" });
    expect(await waiting(home.person)).toEqual([]);
  });

  it("when the device leaves before it said whether to ask, or says nothing in time", async () => {
    stopTime();
    const home = await askedHome();
    home.caller.send({ id: "1", tool: "Bash", input: {} });
    await home.device.expect("tool_prepare");
    await later(home, TIMES.prepareWithin);
    await home.caller.nextJson();
    expect(await home.caller.nextJson()).toMatchObject({ id: "1", code: "TIMEOUT" });
    home.caller.send({ id: "2", tool: "Bash", input: {} });
    await home.device.expect("tool_prepare");
    await leave(home);
    await home.caller.nextJson();
    expect(await home.caller.nextJson()).toMatchObject({ id: "2", code: "DEVICE_OFFLINE" });
  });
});

it("is checked again before it is sent: a grant that has become narrower no longer allows it", async () => {
  stopTime();
  const home = await askedHome();
  const { approval, call } = await askFor(home, "1");
  // Its caller's socket would keep the lease.
  home.caller.close();
  await home.caller.closed;
  await setRights(home.person, home.grant, { owner: false, effects: ["read"] });
  await restart(home);
  await decide(home, approval, ALLOW);
  await until(async () => (await recordOf(home, call)).state !== "awaiting_approval");
  expect(await recordOf(home, call)).toMatchObject({ state: "expired", code: "PERMISSION_DENIED" });
  const answering = ask(`/v1/devices/${home.identity.id}/tools/Read`, json({}, bearer(home.token)));
  await home.device.serve("nothing else came");
  await answering;
});

it("is forgotten with its record, also if its caller named it before it was made", async () => {
  stopTime();
  const home = await askedHome();
  const call = makeCallId(Date.now() - 60_000);
  const path = `/v1/devices/${home.identity.id}/tools/Bash`;
  const answering = ask(path, json({ command: "make" }, { ...bearer(home.token), "Matrx-Call": call }));
  await home.device.prepare();
  await until(async () => (await waiting(home.person)).length > 0);
  const [{ id = "" } = {}] = await waiting(home.person);
  await decide(home, id, { decision: "deny" });
  expect(await (await answering).json()).toMatchObject({ code: "APPROVAL_DENIED", call });
  await later(home);
  await evictDurableObject(object(home.identity.id));
  vi.setSystemTime(Date.now() + TIMES.outcomeKept - 30_000);
  await runDurableObjectAlarm(object(home.identity.id));
  const left = await runInDurableObject(object(home.identity.id), (_, { storage: { sql } }) =>
    sql
      .exec("SELECT (SELECT COUNT(*) FROM ledger) AS calls, (SELECT COUNT(*) FROM approvals) AS asked")
      .one(),
  );
  expect(left).toEqual({ calls: 0, asked: 0 });
});

it("a read that waits ends with its caller; an effect goes on", async () => {
  const home = await askedHome({ owner: false, effects: ["read", "execute"], ask: [{}] });
  const effect = await askFor(home, "1");
  home.caller.send({ id: "2", tool: "Read", input: {} });
  await home.device.prepare();
  const read = await home.caller.nextJson<ApprovalFrame>();
  home.caller.close();
  await home.caller.closed;
  await expect.poll(() => approvalOf(home, read.approval)).toMatchObject({ state: "cancelled" });
  expect(await approvalOf(home, effect.approval)).toMatchObject({ state: "pending" });
  await decide(home, effect.approval, ALLOW);
  await home.device.serve("made");
  await expect.poll(() => recordOf(home, effect.call)).toMatchObject({ outcome: { output: "made" } });
});

describe("a restart of the relay", () => {
  it("asks the device again about what it had not answered", async () => {
    stopTime();
    const home = await askedHome();
    home.caller.send({ id: "1", tool: "Bash", input: {} });
    await home.device.expect("tool_prepare");
    await home.caller.nextJson();
    await restart(home);
    await home.device.prepare();
    const { approval } = await home.caller.nextJson<ApprovalFrame>();
    await decide(home, approval, ALLOW);
    await home.caller.nextJson();
    await home.device.serve("once");
    expect(await home.caller.nextJson()).toMatchObject({ id: "1", output: "once" });
  });

  it("keeps what waits for a person, who can still decide", async () => {
    stopTime();
    const home = await askedHome();
    const { approval, call } = await askFor(home, "1");
    await restart(home);
    expect(await recordOf(home, call)).toMatchObject({ state: "awaiting_approval" });
    await decide(home, approval, ALLOW);
    await home.caller.nextJson();
    await home.device.serve("once");
    expect(await home.caller.nextJson()).toMatchObject({ id: "1", output: "once" });
    expect(home.caller.unread).toBe(0);
  });

  it("records what a read that was allowed answers after a sleep, within the time that it has since then", async () => {
    stopTime();
    const home = await askedHome({ owner: false, effects: ["read"], ask: [{}] });
    const [read, late] = ["1", "2"];
    const sent: Extract<ToDevice, { type: "tool_execute" }>[] = [];
    for (const id of [read, late]) {
      home.caller.send({ id, tool: "Read", input: {}, timeout_ms: 60_000 });
      await home.device.prepare();
      const { approval } = await home.caller.nextJson<ApprovalFrame>();
      await decide(home, approval, ALLOW);
      await home.caller.nextJson();
      sent.push(await home.device.expect("tool_execute"));
    }
    const [execute] = sent;
    if (!execute) throw new Error("nothing was sent");
    await restart(home);
    home.device.answer(execute, "read");
    expect(await home.caller.nextJson()).toMatchObject({ id: read, output: "read" });
    expect(await recordOf(home, execute.tool_call_id)).toMatchObject({ state: "finished" });
    await later(home, 60_000 + TIMES.deadlineGrace);
    expect(await home.caller.nextJson()).toMatchObject({ id: late, code: "OUTCOME_UNKNOWN" });
  });

  it("still says that a person changed the input", async () => {
    stopTime();
    const home = await askedHome();
    const { approval, call } = await askFor(home, "1");
    const deciding = decide(home, approval, { ...ALLOW, input: { command: "make check" } });
    await home.device.prepare();
    await deciding;
    await home.caller.nextJson();
    const execute = await home.device.expect("tool_execute");
    await restart(home);
    home.device.answer(execute, "checked");
    const metadata = { approval: { id: approval, edited: true } };
    expect(await home.caller.nextJson()).toMatchObject({ id: "1", output: "checked", metadata });
    expect(await recordOf(home, call)).toMatchObject({ outcome: { output: "checked", metadata } });
  });

  it("says so also to those who ask when its caller has left", async () => {
    stopTime();
    const home = await askedHome();
    const { approval, call } = await askFor(home, "1");
    const deciding = decide(home, approval, { ...ALLOW, input: { command: "make check" } });
    await home.device.prepare();
    await deciding;
    const execute = await home.device.expect("tool_execute");
    home.caller.close();
    await home.caller.closed;
    await restart(home);
    home.device.answer(execute, "checked");
    const metadata = { approval: { id: approval, edited: true } };
    await until(async () => (await recordOf(home, call)).state === "finished");
    expect(await recordOf(home, call)).toMatchObject({ outcome: { output: "checked", metadata } });
  });

  it("keeps a yes for a device that is away, until it is back", async () => {
    stopTime();
    const home = await askedHome();
    const { approval } = await askFor(home, "1");
    await leave(home);
    await decide(home, approval, ALLOW);
    await home.caller.nextJson();
    await restart(home);
    await later(home, TIMES.reconnectGrace);
    const back = await AgentDevice.come(home.identity);
    expect(await back.serve("once")).toMatchObject({ id: "1", approval: { id: approval } });
    expect(await home.caller.nextJson()).toMatchObject({ id: "1", output: "once" });
    await restart(home);
    expect(back.unread).toBeLessThanOrEqual(1);
    expect(home.caller.unread).toBe(0);
  });

  it("lets a yes expire if the device never comes back", async () => {
    stopTime();
    const home = await askedHome();
    const { approval } = await askFor(home, "1");
    await leave(home);
    await decide(home, approval, ALLOW);
    await home.caller.nextJson();
    await later(home, TIMES.approval);
    expect(await home.caller.nextJson()).toMatchObject({ id: "1", code: "APPROVAL_EXPIRED" });
    const back = await AgentDevice.come(home.identity);
    const answering = home.caller.call("Read");
    await back.serve("nothing else came");
    await answering;
  });
});

describe("a call that was allowed and sent, but that the device never got", () => {
  /** Allowed and sent to a device that left before it took the call. */
  async function lostOnTheWay(input: unknown = { command: "make" }) {
    stopTime();
    const home = await askedHome();
    const question = { summary: "make", tool: "Bash", effect: "execute", input: "{}", warnings: [] } as const;
    const { approval, call } = await askFor(
      home,
      "1",
      input,
      { timeout_ms: 60_000 },
      {
        question: { ...question, warnings: [] },
      },
    );
    await decide(home, approval, ALLOW);
    expect(await home.caller.nextJson()).toMatchObject({ id: "1", state: "allowed" });
    await home.device.expect("tool_execute");
    await leave(home);
    return { home, approval, call };
  }

  async function relayDies(home: AskedHome): Promise<void> {
    home.caller.close();
    await home.caller.closed;
    await restart(home);
  }

  /** The device is back, and says that the call never arrived. */
  async function comesBack(home: AskedHome, call: string): Promise<AgentDevice> {
    const back = await AgentDevice.come(home.identity);
    expect(await back.expect("call_status")).toMatchObject({ tool_call_ids: [call] });
    back.send({ type: "call_status", calls: [{ tool_call_id: call, state: "never" }] });
    return back;
  }

  async function isOver(home: AskedHome, call: string): Promise<Record<string, unknown>> {
    await until(async () => {
      // Slower than the rate of messages.
      await later(home, 20);
      return !["accepted", "awaiting_approval"].includes((await recordOf(home, call)).state as string);
    });
    return recordOf(home, call);
  }

  async function sendsNothingElse(home: AskedHome, back: AgentDevice): Promise<void> {
    const answering = ask(`/v1/devices/${home.identity.id}/tools/Read`, json({}, bearer(home.token)));
    expect(await back.serve("nothing else came")).toMatchObject({ tool: "Read" });
    await answering;
  }

  it("is sent again once the device is back, also if the relay was restarted meanwhile", async () => {
    const { home, approval, call } = await lostOnTheWay();
    await relayDies(home);
    const back = await comesBack(home, call);
    await later(home);
    expect(await back.serve("made")).toMatchObject({
      ...{ tool_call_id: call, tool: "Bash", parameters: { command: "make" }, approval: { id: approval } },
    });
    expect(await isOver(home, call)).toMatchObject({ state: "finished", outcome: { output: "made" } });
    back.close();
    await back.closed;
    await restart(home);
    await sendsNothingElse(home, await AgentDevice.come(home.identity));
  });

  it("is sent again if its callers were told meanwhile that nobody knows its outcome", async () => {
    const { home, call } = await lostOnTheWay();
    await later(home, TIMES.reconnectGrace);
    expect(await home.caller.nextJson()).toMatchObject({ id: "1", code: "OUTCOME_UNKNOWN" });
    const back = await comesBack(home, call);
    await later(home);
    await back.serve("made");
    expect(await isOver(home, call)).toMatchObject({ state: "finished", outcome: { output: "made" } });
  });

  it("is sent again if its frame was too large to be kept, and its caller is answered", async () => {
    const { home, call } = await lostOnTheWay({ command: "x".repeat(100_000) });
    const back = await comesBack(home, call);
    await later(home);
    await back.serve("made");
    expect(await home.caller.nextJson()).toMatchObject({ id: "1", type: "approval", state: "allowed" });
    expect(await home.caller.nextJson()).toMatchObject({ id: "1", output: "made" });
  });

  it("ends as one that did not run if the device is back too late", async () => {
    const { home, approval, call } = await lostOnTheWay();
    await relayDies(home);
    vi.setSystemTime(Date.now() + 60_000);
    const back = await comesBack(home, call);
    const message = "The owner allowed this call, but the device did not come back in time: it did not run";
    expect(await isOver(home, call)).toMatchObject({
      ...{ state: "expired", code: "APPROVAL_EXPIRED", outcome: { output: message } },
      approval: { state: "expired" },
    });
    expect(await approvalOf(home, approval)).toMatchObject({
      state: "expired",
      decided_by: expect.any(String),
    });
    expect(await (await decide(home, approval, ALLOW)).json()).toMatchObject({
      detail: "This call was allowed, but the device did not come back in time: it did not run",
    });
    await sendsNothingElse(home, back);
  });

  it("is not sent again if it was cancelled, or its grant revoked, while the device was away", async () => {
    const { home, call } = await lostOnTheWay();
    await relayDies(home);
    const path = `/v1/devices/${home.identity.id}/calls/${call}/cancel`;
    expect((await ask(path, { method: "POST", headers: bearer(home.token) })).status).toBe(202);
    const back = await comesBack(home, call);
    expect(await isOver(home, call)).toMatchObject({ state: "expired" });
    await sendsNothingElse(home, back);

    const other = await lostOnTheWay();
    await relayDies(other.home);
    await other.home.person.ask(`/v1/tokens/${other.home.grant}`, { method: "DELETE" });
    const again = await comesBack(other.home, other.call);
    await later(other.home);
    await until(async () => {
      await later(other.home, 20);
      return (await approvalOf(other.home, other.approval)).state === "cancelled";
    });
    expect(again.unread).toBe(1);
    expect(await again.expect("session_end")).toBeDefined();
  });
});

it("the record of a call that never reached the device says so, if nobody waits for it any more", async () => {
  stopTime();
  const home = await askedHome({ owner: false, effects: ["execute"] });
  home.caller.send({ id: "1", tool: "Bash", input: {} });
  const { tool_call_id: call } = await home.device.expect("tool_execute");
  await leave(home);
  home.caller.close();
  await home.caller.closed;
  await restart(home);
  const back = await AgentDevice.come(home.identity);
  await back.expect("call_status");
  back.send({ type: "call_status", calls: [{ tool_call_id: call, state: "never" }] });
  await until(async () => {
    await later(home, 20);
    return (await recordOf(home, call)).state === "expired";
  });
  expect(await recordOf(home, call)).toMatchObject({
    ...{ state: "expired", code: "DEVICE_OFFLINE" },
    outcome: {
      output: "The device disconnected before the call reached it",
      hint: "It did not run: send it again",
    },
  });
});

describe("callers", () => {
  it("with the same key join the call that waits; another input is a conflict", async () => {
    const home = await askedHome();
    const other = await TestCaller.connect(home.identity.id, home.token, { protocol: "matrx.v1" });
    await other.nextJson();
    const key = { idempotency_key: "once" };
    const { approval, call } = await askFor(home, "1", { command: "make" }, key);
    other.send({ id: "2", tool: "Bash", input: { command: "make" }, ...key });
    expect(await other.nextJson()).toMatchObject({ id: "2", type: "accepted", call });
    expect(await other.nextJson()).toMatchObject({ id: "2", type: "approval", approval });
    other.send({ id: "3", tool: "Bash", input: { command: "rm" }, ...key });
    expect(await other.nextJson()).toMatchObject({ id: "3", code: "CONFLICT" });
    await decide(home, approval, ALLOW);
    await home.caller.nextJson();
    await other.nextJson();
    await home.device.serve("made");
    expect(await home.caller.nextJson()).toMatchObject({ id: "1", output: "made" });
    expect(await other.nextJson()).toMatchObject({ id: "2", output: "made" });
    expect(home.device.unread).toBeLessThanOrEqual(1);
  });

  it("over REST are sent away after a minute, told what their call waits for, and find its end", async () => {
    stopTime();
    const home = await askedHome();
    const { identity, token } = home;
    const call = makeCallId(Date.now());
    const named = { ...bearer(token), "Matrx-Call": call };
    const path = `/v1/devices/${identity.id}/tools/Bash`;
    const asking = ask(path, json({ command: "make" }, named));
    await home.device.prepare();
    await until(async () => (await waiting(home.person)).length === 1);
    expect((await ask(path, json({}, named))).status).toBe(409);
    await later(home, TIMES.restHold);
    const sentAway = await asking;
    expect(sentAway.status).toBe(202);
    const { approval } = (await recordOf(home, call)) as { approval: { id: string } };
    expect(await sentAway.json()).toMatchObject({ call, state: "awaiting_approval", approval });
    const list = await ask(`/v1/devices/${identity.id}/calls?state=awaiting_approval`, {
      headers: bearer(token),
    });
    expect(await list.json()).toMatchObject({ calls: [{ call, approval }] });
    await decide(home, approval.id, { decision: "deny", note: "not now" });
    expect(await recordOf(home, call)).toMatchObject({
      outcome: { output: "The owner denied this call: not now" },
    });
  });

  it("who read events are told too, and so is one that attaches later", async () => {
    const home = await askedHome();
    const { identity, token, device } = home;
    const headers = { ...bearer(token), Accept: "text/event-stream" };
    const asking = ask(`/v1/devices/${identity.id}/tools/Bash`, json({ command: "make" }, headers));
    await device.prepare();
    const stream = await asking;
    const call = stream.headers.get("Matrx-Call") ?? "";
    await expect.poll(() => recordOf(home, call)).toMatchObject({ approval: { state: "pending" } });
    const attached = await ask(`/v1/devices/${identity.id}/calls/${call}`, { headers });
    const { approval } = (await recordOf(home, call)) as { approval: { id: string } };
    await decide(home, approval.id, ALLOW);
    await device.serve("made");
    for (const text of [await stream.text(), await attached.text()])
      expect([...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name)).toEqual([
        ...["call", "approval", "approval", "result"],
      ]);
  });

  it("may have so many calls wait, and so large an input", async () => {
    const home = await askedHome();
    await home.person.setPolicy(home.identity.id, {
      rates: { messages_per_second: 1000, calls_per_minute: 1000 },
    });
    const path = `/v1/devices/${home.identity.id}/tools/Bash`;
    const big = await ask(path, json({ command: "x".repeat(LIMITS.approvalInputBytes) }, bearer(home.token)));
    expect(big.status).toBe(413);
    for (let n = 0; n < LIMITS.approvalsPerGrant; n++) await askFor(home, `${n}`, { command: `${n}` });
    const more = await ask(path, json({}, bearer(home.token)));
    expect(await more.json()).toMatchObject({ status: 429, limit: LIMITS.approvalsPerGrant });
  });
});

describe("a device that can't prepare", () => {
  it("is asked about by its input alone", async () => {
    const person = await Person.signIn();
    const bare = await person.bareDevice();
    const device = await BareDevice.register(bare.id, bare.token);
    await person.setPolicy(bare.id, { ask: [{ tools: ["delete_directory"] }] });
    const { token } = await tokenWith(person, { owner: true, effects: ["read", "write", "execute"] });
    await device.expect("system_command");
    const asking = ask(
      `/v1/devices/${bare.id}/tools/delete_directory`,
      json({ path: "/a\u202E" }, bearer(token)),
    );
    await vi.waitFor(async () => expect(await waiting(person)).toHaveLength(1));
    const [{ id = "" } = {}] = await waiting(person);
    const home = { person, identity: { id: bare.id, key: {} as CryptoKey } };
    expect((await approvalOf(home, id)).question.input).toBe('{"path":"/a\\u{202E}"}');
    await decide(home, id, ALLOW);
    const { tool_call_id } = await device.expect("tool_execute");
    device.send({ type: "tool_result", tool_call_id, success: true, result: "gone" });
    expect(await (await asking).json()).toMatchObject({ output: "gone" });
  });

  it("is refused what only somebody at the machine may allow", async () => {
    const person = await Person.signIn();
    const bare = await person.bareDevice();
    await BareDevice.register(bare.id, bare.token);
    await person.setPolicy(bare.id, { ask: [{ tools: ["*"], at: "machine" }] });
    const { token } = await person.token({ access: "full" });
    const refused = await ask(`/v1/devices/${bare.id}/tools/open_app`, json({}, bearer(token)));
    expect(await refused.json()).toMatchObject({ status: 403, code: "APPROVAL_DENIED" });
  });
});

/** Large answers under credit, at the relay: who may come when, and what stands still meanwhile. */
import { runInDurableObject } from "cloudflare:test";
import type { ToolExecute } from "@matrx/shared/device-frames.ts";
import type { CallId, GrantId } from "@matrx/shared/ids.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { describe, expect, it } from "vitest";
import { AnswerCredit, type AnswerCreditParts } from "../../../worker/device/calls/answer-credit.ts";
import type { PendingCall } from "../../../worker/device/ledger/call.ts";
import { next } from "../../../worker/device/ledger/call-state.ts";
import { PendingCalls } from "../../../worker/device/ledger/pending.ts";
import type { Recipient } from "../../../worker/device/ledger/recipient.ts";
import { AgentDevice, registerFrame } from "../helpers/device.ts";
import { type Home, home, object, sweepAt } from "../helpers/home.ts";
import { bearer, json } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

const MiB = 1024 * 1024;
/** Two of them are more than one grant may have on the way. */
const BYTES = 13 * MiB;

/** A call by REST, taken on the device. */
async function begin(
  { identity, device, token: own }: Home,
  tool = "Read",
  { token = own, query = "" } = {},
): Promise<{ answering: Promise<Response>; execute: ToolExecute }> {
  const answering = ask(`/v1/devices/${identity.id}/tools/${tool}${query}`, json({}, bearer(token)));
  return { answering, execute: await device.expect("tool_execute") };
}

function askCredit(device: AgentDevice, { tool_call_id }: ToolExecute, bytes = BYTES): void {
  device.send({ type: "credit_request", tool_call_id, bytes });
}

async function creditOf(device: AgentDevice): Promise<string[]> {
  return (await device.expect("credit")).tool_call_ids;
}

/** A heartbeat goes round: what was sent to the relay before has been followed. */
async function settled(device: AgentDevice): Promise<void> {
  device.send({ type: "user_query", query: "?" });
  await device.expect("assistant_response");
}

function diagnostics({ identity }: Home) {
  return runInDurableObject(object(identity.id), (instance) => instance.diagnostics());
}

async function waitingAnswers(at: Home): Promise<number> {
  return (await diagnostics(at)).waitingAnswers;
}

/** A REST caller who has an answer of 13 MiB before him and does not read it, and another call of his that waits. */
async function unread(at: Home, wish: { tool?: string; query?: string } = {}) {
  const first = await begin(at);
  askCredit(at.device, first.execute);
  expect(await creditOf(at.device)).toEqual([first.execute.tool_call_id]);
  at.device.answer(first.execute, "x".repeat(BYTES));
  const response = await first.answering;
  const second = await begin(at, wish.tool, wish);
  askCredit(at.device, second.execute);
  await settled(at.device);
  expect(await waitingAnswers(at)).toBe(1);
  return { response, second };
}

/** Credit by itself, for calls of which the test says who waits for them. */
function credited(queued: AnswerCreditParts["queued"]) {
  const pendingCalls = new PendingCalls();
  const sent: string[] = [];
  const send: AnswerCreditParts["link"]["send"] = (frame) => {
    if (typeof frame === "object" && frame.type === "credit") sent.push(...frame.tool_call_ids);
    return true;
  };
  const ended: string[] = [];
  const apply: AnswerCreditParts["calls"]["apply"] = (pending, event) => {
    pending.phase = next(pending, event).to ?? pending.phase;
    if (pending.phase !== "ended") return;
    ended.push(pending.call);
    pendingCalls.remove(pending);
    credit.settled(pending.call);
  };
  const credit: AnswerCredit = new AnswerCredit({
    ...{ calls: { pendingCalls, apply }, link: { send, reply: send }, queued },
    ledger: { find: () => undefined },
  });
  return { credit, pendingCalls, sent, ended };
}

function pendingOf(call: string, grant: string, recipient: Recipient): PendingCall {
  return {
    ...{ call: call as CallId, grant: grant as GrantId, tool: "Read", effect: "read" },
    ...{ created: 0, deadline: 0, missed: 0, recipients: [recipient] },
    ...{ phase: "delivered", recorded: false },
  };
}

describe("credit", () => {
  it("ends each answer once when several were not read in time", () => {
    const full = () => LIMITS.grantAnswersBytes;
    const { credit, pendingCalls, ended } = credited({ of: full, total: full });
    for (const call of ["one", "two", "three"]) {
      pendingCalls.add(pendingOf(call, "grant_1", {} as Recipient));
      credit.ask({ type: "credit_request", tool_call_id: call, bytes: BYTES }, 0);
    }
    credit.look(TIMES.answerWaits);
    expect(ended).toEqual(["one", "two", "three"]);
  });

  it("is announced to our agent, and given at once where nothing is on the way", async () => {
    const at = await home();
    const device = await AgentDevice.dial(at.identity.id);
    device.send(await registerFrame(at.identity.id, at.identity.key, device.nonce));
    expect(await device.expect("device_registered")).toMatchObject({ credit_above: LIMITS.largeAnswerBytes });
    const { answering, execute } = await begin({ ...at, device });
    askCredit(device, execute);
    expect(await creditOf(device)).toEqual([execute.tool_call_id]);
    device.answer(execute, "read");
    expect(await (await answering).json()).toMatchObject({ output: "read" });
  });

  it("waits for the readers of the same grant, and for no others", async () => {
    const at = await home();
    const { response, second } = await unread(at);
    const { token } = await at.person.token({ access: "read" });
    const others = await begin(at, "Read", { token });
    askCredit(at.device, others.execute);
    expect(await creditOf(at.device)).toEqual([others.execute.tool_call_id]);
    at.device.answer(others.execute, "others read");
    expect(await (await others.answering).json()).toMatchObject({ output: "others read" });
    expect((await response.text()).length).toBeGreaterThan(BYTES);
    expect(await creditOf(at.device)).toEqual([second.execute.tool_call_id]);
    at.device.answer(second.execute, "read");
    expect(await (await second.answering).json()).toMatchObject({ output: "read" });
    expect(await waitingAnswers(at)).toBe(0);
  });

  it("comes when the reader leaves what is before him", async () => {
    const at = await home();
    const { response, second } = await unread(at);
    await response.body?.cancel();
    expect(await creditOf(at.device)).toEqual([second.execute.tool_call_id]);
    at.device.answer(second.execute, "read");
    expect((await second.answering).status).toBe(200);
  });

  it("is told again to an agent that asks again, and again asked for on the next connection", async () => {
    const at = await home();
    const { response, second } = await unread(at);
    at.device.close();
    await at.device.closed;
    const back = await AgentDevice.come(at.identity);
    expect(await waitingAnswers(at)).toBe(0);
    expect((await back.expect("tool_execute")).tool_call_id).toBe(second.execute.tool_call_id);
    askCredit(back, second.execute);
    await response.text();
    expect(await creditOf(back)).toEqual([second.execute.tool_call_id]);
    askCredit(back, second.execute);
    expect(await creditOf(back)).toEqual([second.execute.tool_call_id]);
    back.answer(second.execute, "read");
    expect((await second.answering).status).toBe(200);
  });

  it("is not waited for by an effect that nobody waits for", async () => {
    const at = await home();
    const { response } = await unread(at);
    at.caller.send({ id: "1", tool: "Write", input: {} });
    const execute = await at.device.expect("tool_execute");
    at.caller.close();
    await expect.poll(async () => (await diagnostics(at)).recipients).toBe(1);
    askCredit(at.device, execute);
    expect(await creditOf(at.device)).toEqual([execute.tool_call_id]);
    at.device.answer(execute, "written");
    await response.body?.cancel();
  });

  it("is asked for in vain for a call that is not known: it may stop", async () => {
    const { device } = await home();
    const call = "0199d3a4-7c1e-7b52-9f3e-2d6a8c410e75";
    device.send({ type: "credit_request", tool_call_id: call, bytes: BYTES });
    expect(await device.expect("tool_cancel")).toMatchObject({ tool_call_id: call });
  });

  it("is no condition: an answer that nobody asked for arrives too", async () => {
    const at = await home();
    const { answering, execute } = await begin(at);
    const output = "x".repeat(BYTES);
    at.device.answer(execute, output);
    expect((await (await answering).json<{ output: string }>()).output === output).toBe(true);
  });
});

describe("while an answer waits for its reader", () => {
  it("the call's deadline does not pass", async () => {
    const at = await home();
    const { response, second } = await unread(at, { query: "?timeout_ms=20000" });
    await sweepAt(at.identity.id, Date.now() + 40_000);
    expect(await waitingAnswers(at)).toBe(1);
    await response.text();
    expect(await creditOf(at.device)).toEqual([second.execute.tool_call_id]);
    at.device.answer(second.execute, "read");
    expect(await (await second.answering).json()).toMatchObject({ output: "read" });
  });

  it("deadline and the 60 seconds of REST move by what it waited", () => {
    let queued = LIMITS.grantAnswersBytes;
    const { credit, pendingCalls, sent } = credited({ of: () => queued, total: () => queued });
    let waited = 0;
    const recipient = { waitLonger: (ms: number) => (waited += ms) } as unknown as Recipient;
    pendingCalls.add(pendingOf("call", "a", recipient));
    credit.ask({ type: "credit_request", tool_call_id: "call", bytes: BYTES }, 1000);
    expect(pendingCalls.get("call")).toMatchObject({ phase: "answer_waits", deadline: 0 });
    queued = 0;
    credit.look(91_000);
    expect(sent).toEqual(["call"]);
    expect(pendingCalls.get("call")).toMatchObject({ phase: "delivered", deadline: 90_000 });
    expect(waited).toBe(90_000);
  });

  it("an effect's that asks again goes on waiting, though its row is known", async () => {
    const at = await home();
    const { response, second } = await unread(at, { tool: "Write" });
    askCredit(at.device, second.execute);
    await settled(at.device);
    expect(await waitingAnswers(at)).toBe(1);
    await response.text();
    expect(await creditOf(at.device)).toEqual([second.execute.tool_call_id]);
    at.device.answer(second.execute, "written");
    expect(await (await second.answering).json()).toMatchObject({ output: "written" });
  });

  it("it is given up after ten minutes: a read with TIMEOUT, an effect with its address", async () => {
    const at = await home();
    const { response, second } = await unread(at);
    const third = await begin(at, "Write");
    askCredit(at.device, third.execute);
    await settled(at.device);
    await sweepAt(at.identity.id, Date.now() + TIMES.answerWaits + 1000);
    expect((await second.answering).status).toBe(504);
    expect(await (await third.answering).json()).toMatchObject({ code: "OUTCOME_UNKNOWN" });
    for (const { execute } of [second, third])
      expect(await at.device.expect("tool_cancel")).toMatchObject({ tool_call_id: execute.tool_call_id });
    await response.body?.cancel();
  });
});

describe("what may be on the way", () => {
  const socketWith = (bufferedAmount: number) => ({ bufferedAmount }) as unknown as WebSocket;

  /** Which of these calls get credit, asked for in this order; `queued` is what readers did not take yet. */
  function given(
    calls: { grant: string; bytes: number; socket?: WebSocket }[],
    queued: Record<string, number> = {},
  ): string[] {
    const { credit, pendingCalls, sent } = credited({
      of: (grant) => queued[grant] ?? 0,
      total: () => Object.values(queued).reduce((sum, bytes) => sum + bytes, 0),
    });
    calls.forEach(({ grant, bytes, socket }, n) => {
      pendingCalls.add(pendingOf(`call-${n}`, grant, { socket } as Recipient));
      credit.ask({ type: "credit_request", tool_call_id: `call-${n}`, bytes }, Date.now());
    });
    credit.linkChanged(Date.now());
    return sent;
  }

  it("for one socket: 8 MiB, or one answer alone; its neighbours of the same grant do not wait behind it", () => {
    const deaf = socketWith(0);
    const grant = "a";
    const calls = [
      { grant, bytes: 7 * MiB, socket: deaf },
      { grant, bytes: 7 * MiB, socket: deaf },
      { grant, bytes: 7 * MiB, socket: socketWith(0) },
      { grant, bytes: 1 * MiB, socket: deaf },
      { grant, bytes: 1 * MiB, socket: socketWith(LIMITS.callerAnswersBytes) },
      { grant, bytes: 9 * MiB, socket: socketWith(0) },
    ];
    expect(given(calls)).toEqual(["call-0", "call-2", "call-3", "call-5"]);
  });

  it("for one grant: 24 MiB, in the order in which it was asked; another grant does not wait behind it", () => {
    const calls = [
      { grant: "a", bytes: 13 * MiB },
      { grant: "a", bytes: 13 * MiB },
      { grant: "a", bytes: 1 * MiB },
      { grant: "b", bytes: 13 * MiB },
      { grant: "c", bytes: 13 * MiB },
    ];
    expect(given(calls, { c: LIMITS.grantAnswersBytes })).toEqual(["call-0", "call-3"]);
  });

  it("for readers of one grant that take nothing: all but its last 8 MiB, which are for those with nothing on their way", () => {
    const [live, ...stalled] = Array.from({ length: 8 }, () => socketWith(0)) as [WebSocket, ...WebSocket[]];
    const greedy = (n: number) =>
      Array.from({ length: 24 * n }, (_, i) => ({
        grant: "a",
        bytes: MiB,
        socket: stalled[i % n] as WebSocket,
      }));
    for (const n of [1, 2, 3, 7]) {
      const calls = [...greedy(n), { grant: "a", bytes: 8 * MiB, socket: live }];
      const sent = given(calls);
      expect(sent.at(-1), `${n} stalled`).toBe(`call-${calls.length - 1}`);
      expect(sent).toHaveLength(Math.min(8 * n, 16) + 1);
    }
  });

  it("for one reader: more than one answer, while the grant's last 8 MiB are free and no earlier one of its grant waits for that", () => {
    const [one, two] = [socketWith(0), socketWith(0)];
    const calls = [
      ...Array.from({ length: 4 }, () => ({ grant: "a", bytes: 2 * MiB, socket: one })),
      ...Array.from({ length: 3 }, () => ({ grant: "a", bytes: 2 * MiB, socket: two })),
      { grant: "a", bytes: 4 * MiB, socket: two },
      { grant: "a", bytes: 1 * MiB, socket: two },
      { grant: "a", bytes: 9 * MiB, socket: socketWith(0) },
    ];
    expect(given(calls)).toEqual([
      "call-0",
      "call-1",
      "call-2",
      "call-3",
      "call-4",
      "call-5",
      "call-6",
      "call-8",
      "call-9",
    ]);
  });

  it("for one device: 64 MiB, whatever the grant, and nobody comes before who waits for that", () => {
    const calls = [
      { grant: "a", bytes: 4 * MiB },
      { grant: "b", bytes: 16 * MiB },
      { grant: "c", bytes: 1 * MiB },
    ];
    const queued = { x: 24 * MiB, y: 24 * MiB };
    expect(given(calls, queued)).toEqual(["call-0"]);
  });

  it("the last of it is for grants that have nothing on their way", () => {
    const calls = [..."aaabbbccdef"].map((grant) => ({ grant, bytes: 8 * MiB }));
    expect(
      given(calls)
        .map((call) => calls[Number(call.slice(5))]?.grant)
        .join(""),
    ).toBe("aaabbcde");
  });
});

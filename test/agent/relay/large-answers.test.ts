/** Large answers at the agent: none is made or sent before the relay has room for it, and none is lost meanwhile. */
import { join } from "node:path";
import { LIMITS } from "@matrx/shared/limits.ts";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import type { Outcome } from "../../../agent/core/answers.ts";
import { ByteBudget } from "../../../agent/core/byte-budget.ts";
import { Journal } from "../../../agent/core/journal.ts";
import { defineTool } from "../../../agent/core/tool.ts";
import { UnsentOutcomes } from "../../../agent/relay/unsent-outcomes.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { OWNER, silentLog, smallToolbox } from "../core/small-tools.ts";
import { type DeviceSocket, type ScriptedRelay, startScriptedRelay } from "./scripted-relay.ts";
import { startAgent } from "./start-agent.ts";

const CREDIT = { credit_above: LIMITS.largeAnswerBytes };
const LARGE = LIMITS.largeAnswerBytes + 1;
const MiB = 1024 * 1024;

/** Glob says before how large its answer will be, SystemInfo only by giving it; both read. Move has an effect. */
function toolbox() {
  const small = smallToolbox();
  const made: number[] = [];
  const input = z.strictObject({ bytes: z.int() });
  const tools = [
    defineTool({
      ...{ name: "Glob", description: "Announces its answer.", input, timeoutMs: 300 },
      handle: async ({ bytes }, { room }) => {
        await room(bytes);
        made.push(bytes);
        return { output: "g".repeat(bytes) };
      },
    }),
    defineTool({
      ...{ name: "SystemInfo", description: "Answers.", input, timeoutMs: 1000 },
      handle: async ({ bytes }) => {
        made.push(bytes);
        return { output: "s".repeat(bytes) };
      },
    }),
    defineTool({
      ...{ name: "Move", description: "Answers.", input, timeoutMs: 1000 },
      handle: async ({ bytes }) => {
        made.push(bytes);
        return { output: "m".repeat(bytes) };
      },
    }),
  ];
  return { toolbox: { ...small, tools: [...small.tools, ...tools] }, made };
}

async function connected(registered: object = CREDIT) {
  const { toolbox: tools, made } = toolbox();
  const relay = await startScriptedRelay();
  const agent = startAgent(relay.url, { toolbox: tools });
  return { relay, agent, made, socket: await next(relay, registered) };
}

async function next(relay: ScriptedRelay, registered: object = CREDIT): Promise<DeviceSocket> {
  const socket = await relay.connection();
  await socket.register(registered);
  return socket;
}

function execute(
  { socket }: DeviceSocket,
  call: string,
  tool: string,
  bytes: number,
  extra: object = {},
): void {
  const named = { tool_call_id: call, tool, id: `mine-${call}`, grant: OWNER };
  socket.send(
    JSON.stringify({ type: "tool_execute", ...named, parameters: { bytes }, timeout_sec: 5, ...extra }),
  );
}

/** Asks something small and takes its answer: what was sent before has been followed. */
async function settled(device: DeviceSocket): Promise<void> {
  const call = crypto.randomUUID();
  execute(device, call, "SystemInfo", 1);
  expect((await device.result()).header.call).toBe(call);
}

function creditRequest(call: string, bytes: number) {
  return { type: "credit_request", tool_call_id: call, bytes };
}

test("an answer whose size is known is not made before there is credit, and small ones are not asked for", async () => {
  const { socket, made } = await connected();
  execute(socket, "c1", "Glob", LARGE);
  expect(await socket.texts.next()).toEqual(creditRequest("c1", LARGE));
  execute(socket, "c2", "Glob", 1000);
  expect((await socket.result()).header.call).toBe("c2");
  expect(made).toEqual([1000]);
  socket.send({ type: "credit", tool_call_ids: ["c1", "never heard of"] });
  const { header, answer } = await socket.result();
  expect(header).toMatchObject({ call: "c1", status: "success" });
  expect(answer).toMatchObject({ id: "mine-c1", output: "g".repeat(LARGE) });
  await settled(socket);
  expect([socket.texts.size, socket.binary.size]).toEqual([0, 0]);
});

test.each(["SystemInfo", "Move"])("an answer of %s that turned out large waits for credit", async (tool) => {
  const { socket, agent } = await connected();
  execute(socket, "c1", tool, LARGE);
  const asked = await socket.texts.next();
  expect(asked).toMatchObject({ type: "credit_request", tool_call_id: "c1" });
  expect(asked).toHaveProperty(
    "bytes",
    expect.toSatisfy((bytes: number) => bytes > LARGE),
  );
  await settled(socket);
  expect(socket.binary.size).toBe(0);
  socket.send({ type: "credit", tool_call_ids: ["c1"] });
  const { header, answer } = await socket.result();
  expect(header.call).toBe("c1");
  expect(answer.output).toHaveLength(LARGE);
  expect(agent.states.at(-1)).toBe("REGISTERED");
});

test("a relay that knows no credit gets answers at once", async () => {
  const { socket } = await connected({});
  for (const tool of ["Glob", "SystemInfo", "Move"]) {
    execute(socket, tool, tool, LARGE);
    expect((await socket.result()).header).toMatchObject({ call: tool, status: "success" });
  }
  expect(socket.texts.size).toBe(0);
});

test("a tool's deadline stands still while it waits for credit", async () => {
  const { socket } = await connected();
  execute(socket, "c1", "Glob", LARGE, { timeout_ms: 100 });
  await socket.texts.next();
  execute(socket, "c2", "Grep", 1, { timeout_ms: 200, parameters: {} });
  expect((await socket.result()).header).toMatchObject({ call: "c2", code: "TIMEOUT" });
  socket.send({ type: "credit", tool_call_ids: ["c1"] });
  expect((await socket.result()).header).toMatchObject({ call: "c1", status: "success" });
});

test.each([
  ["Glob", "cancelled"],
  ["SystemInfo", "cancelled"],
])("a cancelled call of %s that waits is answered once", async (tool, status) => {
  const { socket } = await connected();
  execute(socket, "c1", tool, LARGE);
  await socket.texts.next();
  socket.send({ type: "tool_cancel", tool_call_id: "c1" });
  const { header, answer } = await socket.result();
  expect(header).toMatchObject({ call: "c1", status, code: "CANCELLED" });
  expect(answer).toMatchObject({ id: "mine-c1", type: "error", code: "CANCELLED" });
  socket.send({ type: "credit", tool_call_ids: ["c1"] });
  await settled(socket);
  expect(socket.binary.size).toBe(0);
});

test("an effect's outcome that waits is not lost by cancelling: it comes when there is room", async () => {
  const { socket } = await connected();
  execute(socket, "c1", "Move", LARGE);
  await socket.texts.next();
  socket.send({ type: "tool_cancel", tool_call_id: "c1" });
  await settled(socket);
  expect(socket.binary.size).toBe(0);
  socket.send({ type: "credit", tool_call_ids: ["c1"] });
  expect((await socket.result()).header).toMatchObject({ call: "c1", status: "success" });
});

test.each(["Glob", "SystemInfo", "Move"])(
  "what waits of %s is asked for again on the next connection, and sent once",
  async (tool) => {
    const { relay, socket, made } = await connected();
    execute(socket, "c1", tool, LARGE);
    await socket.texts.next();
    socket.socket.terminate();
    const second = await next(relay);
    // As the relay does: reads are given again.
    if (tool !== "Move") execute(second, "c1", tool, LARGE);
    expect(await second.texts.next()).toMatchObject({ type: "credit_request", tool_call_id: "c1" });
    second.send({ type: "credit", tool_call_ids: ["c1"] });
    expect((await second.result()).header).toMatchObject({ call: "c1", status: "success" });
    await settled(second);
    expect(second.binary.size).toBe(0);
    expect(made.filter((bytes) => bytes === LARGE)).toHaveLength(1);
  },
);

test("a large answer that was credited on a connection that broke comes on the next one", async () => {
  const { relay, socket } = await connected();
  execute(socket, "c1", "SystemInfo", LARGE);
  await socket.texts.next();
  socket.socket.pause();
  socket.send({ type: "credit", tool_call_ids: ["c1"] });
  socket.socket.terminate();
  const second = await next(relay, {});
  execute(second, "c1", "SystemInfo", LARGE);
  expect((await second.result()).header).toMatchObject({ call: "c1", status: "success" });
});

test("unread answers beyond what memory holds are in the journal, and given back as they were", () => {
  const journal = new Journal(join(temporaryFolder(), "journal"));
  onTestFinished(() => journal.close());
  const unsent = new UnsentOutcomes(journal, silentLog);
  const calls = Array.from({ length: 6 }, (_, n) => `c${n}`);
  const outcomeOf = (call: string, n: number): Outcome => ({
    header: { call, tool: "Glob", status: "success", ms: n },
    body: Buffer.alloc(8 * MiB, n + 1),
  });
  for (const [n, call] of calls.entries()) unsent.put(outcomeOf(call, n), undefined);
  expect(calls.map((call) => journal.holds(call))).toEqual([true, true, false, false, false, false]);
  expect(journal.unacknowledged()).toEqual([]);
  for (const [n, call] of calls.entries()) {
    const { header, body } = unsent.take(call) ?? {};
    expect(header).toEqual(outcomeOf(call, n).header);
    expect(Buffer.from(body ?? []).equals(outcomeOf(call, n).body)).toBe(true);
    expect([unsent.has(call), journal.find(call)]).toEqual([false, undefined]);
  }
});

test("an effect's outcome that waits takes no memory: the journal has it, and keeps it", async () => {
  const journal = new Journal(join(temporaryFolder(), "journal"));
  onTestFinished(() => journal.close());
  await journal.begin("c1", "Move");
  const outcome: Outcome = {
    header: { call: "c1", tool: "Move", status: "success", ms: 1 },
    body: Buffer.alloc(MiB, "m"),
  };
  journal.finish("c1", outcome);
  const unsent = new UnsentOutcomes(journal, silentLog);
  unsent.put(outcome, "mine");
  expect(unsent.idOfRead("c1")).toBeUndefined();
  expect(unsent.take("c1")?.body).toHaveLength(MiB);
  expect(journal.unacknowledged()).toEqual(["c1"]);
});

test("a byte budget lets through what fits, in order, and more than there is alone", async () => {
  const budget = new ByteBudget(10);
  const order: string[] = [];
  const take = async (name: string, bytes: number, signal?: AbortSignal) => {
    const giveBack = await budget.take(bytes, signal);
    order.push(name);
    return giveBack;
  };
  const first = await take("first", 6);
  const large = take("large", 11);
  const leaving = new AbortController();
  const left = take("left", 1, leaving.signal);
  const small = take("small", 1);
  expect(order).toEqual(["first"]);
  leaving.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  first();
  first();
  const giveBack = await large;
  expect(order).toEqual(["first", "large"]);
  giveBack();
  (await small)();
  expect(order).toEqual(["first", "large", "small"]);
});

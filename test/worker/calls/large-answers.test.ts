/** Answers of several MiB, on each way to a caller: they arrive as the device wrote them. */
import { runInDurableObject } from "cloudflare:test";
import { LIMITS } from "@matrx/shared/limits.ts";
import { describe, expect, it } from "vitest";
import { TestCaller } from "../helpers/caller.ts";
import { type Home, home, object } from "../helpers/home.ts";
import { bearer, json } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

/** Differs everywhere, so that a piece that is missing, repeated or misplaced shows. */
const LARGE = Array.from({ length: 500_000 }, (_, n) => `${n} é`).join("\n");

const MiB = 1024 * 1024;

function diagnostics({ identity }: Home) {
  return runInDurableObject(object(identity.id), (instance) => instance.diagnostics());
}

async function queuedBytes(at: Home): Promise<number> {
  return (await diagnostics(at)).queuedBytes;
}

describe("by REST", () => {
  it.each([
    ["a tool's route", (id: string) => `/v1/devices/${id}/tools/Read`, {}],
    ["the guide's route", (id: string) => `/v1/devices/${id}/tools/invoke`, { tool: "Read", input: {} }],
  ])("on %s they come whole", async (_, pathOf, body) => {
    const at = await home();
    const asking = ask(pathOf(at.identity.id), json(body, bearer(at.token)));
    const execute = await at.device.serve(LARGE);
    const response = await asking;
    expect(response.headers.get("Content-Type")).toBe("application/json");
    expect(response.headers.get("Matrx-Call")).toBe(execute.tool_call_id);
    const answer = await response.json<{ output: string }>();
    expect(answer).toMatchObject({ type: "success", image: null, call: execute.tool_call_id });
    expect(answer.output === LARGE).toBe(true);
    await expect.poll(() => queuedBytes(at)).toBe(0);
  });

  it.each([
    ["a tool's route", (id: string) => `/v1/devices/${id}/tools/Read`, {}],
    ["the guide's route", (id: string) => `/v1/devices/${id}/tools/invoke`, { tool: "Read", input: {} }],
  ])("on %s a token that reads none has a bounded part of the memory", async (_, pathOf, body) => {
    const at = await home();
    const responses: Response[] = [];
    for (let n = 0; n < 5; n++) {
      const asking = ask(pathOf(at.identity.id), json(body, bearer(at.token)));
      // Unasked, as from a device that knows no credit.
      await at.device.serve("x".repeat(8 * MiB));
      responses.push(await asking);
    }
    expect(await queuedBytes(at)).toBeLessThanOrEqual(LIMITS.callerQueueMaxBytes);
    const answers = await Promise.all(responses.map((response) => response.json<{ code?: string }>()));
    expect(answers.map(({ code }) => code)).toEqual([
      ...[undefined, undefined, undefined],
      ...["OUTCOME_UNKNOWN", "OUTCOME_UNKNOWN"],
    ]);
    await expect.poll(() => queuedBytes(at)).toBe(0);
  });

  it("a reader takes them at its own pace, and what it leaves is forgotten", async () => {
    const at = await home();
    const path = `/v1/devices/${at.identity.id}/tools/Read`;
    const asking = ask(path, json({}, bearer(at.token)));
    await at.device.serve(LARGE);
    const { body } = await asking;
    expect(await queuedBytes(at)).toBeGreaterThan(LIMITS.largeAnswerBytes);
    await body?.cancel();
    await expect.poll(() => queuedBytes(at)).toBe(0);
  });

  it("an error is a problem, however long it is", async () => {
    const at = await home();
    const asking = ask(`/v1/devices/${at.identity.id}/tools/Read`, json({}, bearer(at.token)));
    const execute = await at.device.expect("tool_execute");
    at.device.answer(execute, LARGE, { status: "error", code: "TOOL_EXECUTION_FAILED" });
    const response = await asking;
    expect(response.status).toBe(422);
    expect((await response.json<{ detail: string }>()).detail === LARGE).toBe(true);
  });
});

it.each(["matrx.v1", "matrx.v1.bin"])("over a WebSocket of %s they come whole", async (protocol) => {
  const at = await home();
  const caller = await TestCaller.connect(at.identity.id, at.token, { protocol });
  await caller.nextJson();
  const answering = Promise.all([caller.call("Read"), at.device.serve(LARGE)]);
  expect((await answering)[0].output === LARGE).toBe(true);
});

it("goes to each who waits under one idempotency key", async () => {
  const at = await home();
  const keyed = { ...bearer(at.token), "Idempotency-Key": "k" };
  const path = `/v1/devices/${at.identity.id}/tools/Write`;
  const first = ask(path, json({}, keyed));
  const execute = await at.device.expect("tool_execute");
  at.caller.send({ id: "mine", tool: "Write", input: {}, idempotency_key: "k" });
  const second = ask(path, json({}, keyed));
  await expect.poll(async () => (await diagnostics(at)).recipients).toBe(3);
  at.device.answer(execute, LARGE);
  expect((await at.caller.nextJson<{ output: string }>()).output === LARGE).toBe(true);
  for (const asking of [first, second]) {
    const answer = await (await asking).json<{ output: string }>();
    expect(answer.output === LARGE).toBe(true);
  }
});

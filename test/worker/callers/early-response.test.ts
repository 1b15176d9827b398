/** The guide's route while a call takes long: its answer begins before there is one, and keeps its shape. */
import type { ToolExecute } from "@matrx/shared/device-frames.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { expect, it } from "vitest";
import { AgentDevice } from "../helpers/device.ts";
import { type Home, home, sweepAt } from "../helpers/home.ts";
import { bearer, json } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

const LONGER = { timeout: TIMES.streamKeepAlive + 15_000 };

/** A call on the guide's route, taken on the device. */
async function begin(
  at: Home,
  tool: string,
  { token = at.token, path = `/v1/devices/${at.identity.id}/tools/invoke`, more = {} } = {},
): Promise<{ answering: Promise<Response>; execute: ToolExecute }> {
  const answering = ask(path, json({ tool, input: {}, timeout_ms: 300_000, ...more }, bearer(token)));
  return { answering, execute: await at.device.expect("tool_execute") };
}

/** The headers came, and white space. */
async function begun(answering: Promise<Response>, { tool_call_id }: ToolExecute): Promise<Response> {
  const response = await answering;
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Type")).toBe("application/json");
  expect(response.headers.get("Matrx-Call")).toBe(tool_call_id);
  return response;
}

it(
  "says the call's name early, then white space, and at last what it would have said at once",
  LONGER,
  async () => {
    const at = await home();
    const limited = await at.person.token({ access: "full" });
    const keyed = { idempotency_key: "k" };
    const calls = {
      device: await begin(at, "Bash"),
      root: await begin(at, "Bash", { path: "/tools/invoke" }),
      failing: await begin(at, "Read"),
      revoked: await begin(at, "Bash", { token: limited.token }),
      left: await begin(at, "Read"),
      keyed: await begin(at, "Write", { more: keyed }),
    };
    // The same call again: it is named as the first one.
    const again = ask(
      `/v1/devices/${at.identity.id}/tools/invoke`,
      json({ tool: "Write", input: {}, ...keyed }, bearer(at.token)),
    );
    const answers = {
      device: await begun(calls.device.answering, calls.device.execute),
      root: await begun(calls.root.answering, calls.root.execute),
      failing: await begun(calls.failing.answering, calls.failing.execute),
      revoked: await begun(calls.revoked.answering, calls.revoked.execute),
      left: await begun(calls.left.answering, calls.left.execute),
      keyed: await begun(calls.keyed.answering, calls.keyed.execute),
      again: await begun(again, calls.keyed.execute),
    };

    await answers.left.body?.cancel();
    expect((await at.device.expect("tool_cancel")).tool_call_id).toBe(calls.left.execute.tool_call_id);
    await at.person.ask(`/v1/tokens/${limited.id}`, { method: "DELETE" });
    at.device.answer(calls.device.execute, "done", { exit: 0 });
    at.device.answer(calls.root.execute, "done");
    at.device.answer(calls.keyed.execute, "written");
    const code = "TOOL_EXECUTION_FAILED";
    at.device.answer(calls.failing.execute, "It is gone", { status: "error", code }, { code, hop: "tool" });

    const text = await answers.device.text();
    expect(text).toMatch(/^ +\{/);
    const { tool_call_id: call } = calls.device.execute;
    expect(JSON.parse(text)).toEqual({
      ...{ type: "success", output: "done", image: null, call, device: at.identity.id },
    });
    expect(await answers.root.json()).toMatchObject({ type: "success", output: "done" });
    expect(await answers.failing.json()).toMatchObject({
      type: "error",
      output: "It is gone",
      code,
      image: null,
    });
    expect(await answers.revoked.json()).toMatchObject({
      type: "error",
      code: "UNAUTHENTICATED",
      image: null,
    });
    expect(await answers.keyed.json()).toMatchObject({ type: "success", output: "written" });
    expect(await answers.again.json()).toMatchObject({ type: "success", output: "written" });
  },
);

it("a call that takes over a minute is not sent away, nor one whose device dialled again", async () => {
  const at = await home();
  const { answering, execute } = await begin(at, "Bash");
  // Asked for a sign of life first, then given up.
  await sweepAt(at.identity.id, Date.now() + 61_000);
  await sweepAt(at.identity.id, Date.now() + 67_000);
  await at.device.closed;
  const back = await AgentDevice.come(at.identity);
  back.answer(execute, "done at last");
  const response = await answering;
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ type: "success", output: "done at last" });
});

it("an answer that comes soon is not begun early: it says how long it is", async () => {
  const at = await home();
  const { answering, execute } = await begin(at, "Bash");
  at.device.answer(execute, "done");
  expect(await (await answering).text()).toMatch(/^\{/);
});

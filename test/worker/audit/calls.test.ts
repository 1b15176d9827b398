/** What the record is told of calls, and what is left of it when the relay dies. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { auditEntrySchema } from "@matrx/shared/audit.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Audit } from "../../../worker/objects/audit.ts";
import { askedHome, askFor, decide } from "../helpers/approvals.ts";
import { TestCaller } from "../helpers/caller.ts";
import { AgentDevice } from "../helpers/device.ts";
import { home, object, sweepAt } from "../helpers/home.ts";
import { recordOf, recordWith, verified } from "../helpers/record.ts";
import { bearer, json } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** The object dies as it is, without its timers' last run. */
async function kill(id: string): Promise<void> {
  await runInDurableObject(object(id), (_, state) => state.abort("killed by a test")).catch(() => undefined);
}

describe("the record", () => {
  it("tells of each call who made it, what it was and how it ended; secrets are masked", async () => {
    const { person, identity, device, caller } = await home();
    caller.send({ id: "1", tool: "Bash", input: { command: "deploy --token hunter2hunter2" } });
    const bash = await device.expect("tool_execute");
    device.answer(bash, "failed", { exit: 3, ms: 12, preview: "failed" });
    await caller.nextJson();
    caller.send({ id: "2", tool: "Read", input: { file_path: "/srv/notes" } });
    const read = await device.serve("text");
    const entries = await recordWith(person, 2, { type: "call" });
    expect(entries).toMatchObject([
      {
        ...{ type: "call", call: bash.tool_call_id, device: identity.id, tool: "Bash", effect: "execute" },
        ...{ input: { command: "deploy --token [redacted]" }, status: "success", exit: 3, ms: 12 },
        ...{ by: { name: "test", credential: "script" }, preview: "failed" },
      },
      {
        ...{ type: "call", call: read.tool_call_id, tool: "Read", effect: "read", status: "success" },
        input: { file_path: "/srv/notes" },
      },
    ]);
    for (const entry of entries) auditEntrySchema.parse(entry);
    expect(JSON.stringify(await recordOf(person))).not.toContain("hunter2");
    expect((await verified(person)).fault).toBeUndefined();
  });

  it("keeps nothing of what was typed or copied, in whatever form", async () => {
    const { person, device, caller } = await home();
    const calls = [
      ["TerminalInput", { terminal: "term_1", text: "hunter3\n" }],
      ["ClipboardWrite", { text: "hunter3" }],
      ["Bash", { command: "echo hunter3 | sudo -S id" }],
    ] as const;
    const announced = calls.map(([name]) => ({
      name,
      description: "Does",
      effect: "execute",
      input_schema: {},
    }));
    device.send({ type: "manifest", hash: "manifest-1", tools: announced });
    for (const [index, [tool, input]] of calls.entries()) {
      caller.send({ id: `${index}`, tool, input });
      const preview = tool === "Bash" || tool === "ClipboardWrite" ? "root" : "hunter3";
      device.answer(await device.expect("tool_execute"), "hunter3", { preview });
      await caller.nextJson();
    }
    expect(await recordWith(person, calls.length, { type: "call" })).toMatchObject([
      { tool: "TerminalInput", input: { terminal: "term_1", text: "[redacted]" }, preview: "[redacted]" },
      { tool: "ClipboardWrite", input: { text: "[redacted]" } },
      { tool: "Bash", input: { command: "echo [redacted] | sudo -S id" }, preview: "root" },
    ]);
    expect(JSON.stringify(await recordOf(person))).not.toContain("hunter3");
  });

  it("tells of refused calls: the first at once, equal ones together", async () => {
    const { person, identity } = await home();
    const { token, id: grant } = await person.token({ access: "read" });
    const body = () => json({ command: "rm" }, bearer(token));
    for (let n = 0; n < 4; n++)
      expect((await ask(`/v1/devices/${identity.id}/tools/Bash`, body())).status).toBe(403);
    expect(await recordWith(person, 1, { type: "denied" })).toMatchObject([
      { tool: "Bash", code: "PERMISSION_DENIED", by: { grant, credential: "ai" }, input: { command: "rm" } },
    ]);
    await sweepAt(identity.id, Date.now() + 61_000);
    expect(await recordWith(person, 2, { type: "denied" })).toMatchObject([{}, { tool: "Bash", times: 3 }]);
  });

  it("tells of a question, of who decided and how, and of what ran", async () => {
    const asked = await askedHome();
    const { person, device } = asked;
    const { approval } = await askFor(asked, "1");
    expect((await decide(asked, approval, { decision: "allow", for: "once" })).status).toBe(200);
    device.answer(await device.expect("tool_execute"), "made");
    const entries = await recordWith(person, 2, { type: "approval" });
    expect(entries).toMatchObject([
      { state: "pending", tool: "Bash", by: { credential: "ai" } },
      { state: "allowed", decided_by: expect.any(String), for: "once" },
    ]);
    expect(await recordWith(person, 1, { type: "call" })).toMatchObject([
      { tool: "Bash", status: "success", input: { command: "make" } },
    ]);
  });

  it("tells of a long read that it runs, before the object may sleep, and of its end after that", async () => {
    const { person, identity, device, caller } = await home();
    caller.send({ id: "1", tool: "Read", input: { file_path: "/slow" } });
    const read = await device.expect("tool_execute");
    await sweepAt(identity.id, Date.now() + 5_001);
    expect(await recordWith(person, 1, { type: "call" })).toMatchObject([
      { call: read.tool_call_id, status: "running", input: { file_path: "/slow" } },
    ]);
    await evictDurableObject(object(identity.id));
    device.answer(read, "at last");
    expect(await caller.nextJson()).toMatchObject({ output: "at last" });
    expect(await recordWith(person, 2, { type: "call" })).toMatchObject([
      {},
      { call: read.tool_call_id, status: "success" },
    ]);
    expect(await recordOf(person, { type: "gap" })).toEqual([]);
  });
});

it("an effect that takes long is in the record before it ends", async () => {
  const { person, identity, device, caller } = await home();
  caller.send({ id: "1", tool: "Bash", input: { command: "make" } });
  const bash = await device.expect("tool_execute");
  await sweepAt(identity.id, Date.now() + 5_001);
  expect(await recordWith(person, 1, { type: "call" })).toMatchObject([
    { call: bash.tool_call_id, status: "running", input: { command: "make" } },
  ]);
  device.answer(bash, "made");
  expect(await recordWith(person, 2, { type: "call" })).toMatchObject([
    {},
    { call: bash.tool_call_id, status: "success" },
  ]);
});

describe("when the relay dies", () => {
  it("the end of an effect is told by whoever comes after, once, and there is no gap", async () => {
    const { person, identity, device, caller, token } = await home();
    const unreachable = vi.spyOn(Audit.prototype, "append").mockRejectedValue(new Error("not now"));
    caller.send({ id: "1", tool: "Bash", input: { command: "make" } });
    await device.serve("made");
    await device.expect("result_ack");
    await vi.waitFor(() => expect(unreachable).toHaveBeenCalled());
    await kill(identity.id);
    unreachable.mockRestore();
    await AgentDevice.come(identity);
    await TestCaller.connect(identity.id, token);
    expect(await recordWith(person, 1, { type: "call" })).toMatchObject([
      { tool: "Bash", status: "success", input: { command: "make" }, by: { name: "test" } },
    ]);
    expect(await recordOf(person, { type: "gap" })).toEqual([]);
  });

  it("reads that nobody was told of leave a gap that says since when", async () => {
    const { person, identity, device, caller, token } = await home();
    const unreachable = vi.spyOn(Audit.prototype, "append").mockRejectedValue(new Error("not now"));
    const before = Date.now();
    caller.send({ id: "1", tool: "Read", input: {} });
    await device.serve("text");
    await caller.nextJson();
    await kill(identity.id);
    unreachable.mockRestore();
    await AgentDevice.come(identity);
    await TestCaller.connect(identity.id, token);
    const [gap] = await recordWith(person, 1, { type: "gap" });
    if (gap?.type !== "gap") throw new Error("no gap");
    expect(Date.parse(gap.since)).toBeGreaterThanOrEqual(before - 1);
    expect(Date.parse(gap.until)).toBeLessThanOrEqual(Date.now());
    expect(await verified(person)).toMatchObject({ gaps: 1 });
  });

  it("nothing is said of a gap if the record had everything", async () => {
    const { person, identity, device, caller, token } = await home();
    caller.send({ id: "1", tool: "Read", input: {} });
    await device.serve("text");
    await recordWith(person, 1, { type: "call" });
    await sweepAt(identity.id, Date.now() + 6_000);
    await kill(identity.id);
    const device2 = await AgentDevice.come(identity);
    const again = await TestCaller.connect(identity.id, token);
    again.send({ id: "2", tool: "Read", input: {} });
    await device2.serve("text");
    await recordWith(person, 2, { type: "call" });
    expect(await recordOf(person, { type: "gap" })).toEqual([]);
  });

  it("a record that is away for a while gets everything later, in order and once", async () => {
    const { person, device, caller } = await home();
    const unreachable = vi.spyOn(Audit.prototype, "append").mockRejectedValue(new Error("not now"));
    for (const id of ["1", "2", "3"]) {
      caller.send({ id, tool: id === "2" ? "Bash" : "Read", input: { n: id } });
      await device.serve("text");
      await caller.nextJson();
    }
    await vi.waitFor(() => expect(unreachable).toHaveBeenCalled());
    unreachable.mockRestore();
    const entries = await recordWith(person, 3, { type: "call" });
    expect(entries.map((entry) => (entry.type === "call" ? entry.input?.n : ""))).toEqual(["1", "2", "3"]);
  });
});

it("made-up names of tools fill no more of the record than a few entries a minute", async () => {
  const { person, identity } = await home();
  // More messages than these would be refused before anybody looks what they are.
  await person.setPolicy(identity.id, { rates: { messages_per_second: 1000 } });
  const { token } = await person.token({ access: "read" });
  for (let n = 0; n < 30; n++)
    await ask(`/v1/devices/${identity.id}/tools/Made${n}`, json({}, bearer(token)));
  await sweepAt(identity.id, Date.now() + 5_001);
  await sweepAt(identity.id, Date.now() + 10_002);
  const entries = await recordWith(person, 9, { type: "denied" });
  expect(entries.length).toBeLessThanOrEqual(11);
  const counted = entries.reduce((sum, entry) => sum + (entry.type === "denied" ? (entry.times ?? 1) : 0), 0);
  expect(counted).toBe(30);
});

/** An AI's call waits until a person decides; then it runs once, or never. */
import { expect, it } from "vitest";
import { approvalOf, askedHome, askFor, decide, recordOf, waiting } from "../helpers/approvals.ts";
import { AgentDevice, registerFrame, TOOLS } from "../helpers/device.ts";

it("runs a call once a person allowed it, and tells its caller what it waits for", async () => {
  const home = await askedHome();
  const { device, caller, person, identity } = home;
  const { approval, call, summary } = await askFor(home, "1");
  expect(summary).toBe('Bash {"command":"make"}');
  expect(await recordOf(home, call)).toMatchObject({
    state: "awaiting_approval",
    approval: { id: approval, state: "pending", summary },
  });
  expect(await waiting(person)).toMatchObject([{ id: approval, device: identity.id, grant_name: "test" }]);
  expect(device.unread).toBe(0);

  const decided = await decide(home, approval, { decision: "allow" });
  expect(await decided.json()).toMatchObject({ state: "allowed", for: "once", decided_by: "A browser" });
  expect(await caller.nextJson()).toMatchObject({ type: "approval", state: "allowed" });
  const execute = await device.expect("tool_execute");
  const { binding } = await approvalOf(home, approval);
  // Its whole time: the clock did not run while it waited.
  expect(execute.timeout_sec).toBe(600);
  expect(execute).toMatchObject({ tool_call_id: call, id: "1", approval: { id: approval, binding } });
  device.answer(execute, "made");
  expect(await caller.nextJson()).toMatchObject({ id: "1", type: "success", output: "made" });
  expect(await recordOf(home, call)).toMatchObject({ state: "finished", approval: { state: "allowed" } });
  expect(await waiting(person)).toEqual([]);
});

it("does not ask about what no rule fits, nor about what the device says needs none", async () => {
  const home = await askedHome();
  const { device, caller } = home;
  caller.send({ id: "r", tool: "Read", input: {} });
  await device.serve("read");
  expect(await caller.nextJson()).toMatchObject({ output: "read" });

  caller.send({ id: "w", tool: "Bash", input: {} });
  await device.prepare({ ask: false, binding: undefined, question: undefined });
  expect(await device.serve("done")).not.toHaveProperty("approval");
  expect(await caller.nextJson()).toMatchObject({ type: "accepted" });
  expect(await caller.nextJson()).toMatchObject({ id: "w", output: "done" });
});

it("asks about what the device's own policy or the relay's asks about, even the owner", async () => {
  const home = await askedHome({ owner: true, effects: ["read", "write", "execute"] });
  const { device, caller, person, identity } = home;
  caller.send({ id: "1", tool: "Bash", input: {} });
  await device.serve("done");
  await caller.nextJson();
  expect(await caller.nextJson()).toMatchObject({ id: "1", output: "done" });

  await person.setPolicy(identity.id, { ask: [{ tools: ["Re*"], match: "*secret*" }] });
  caller.send({ id: "2", tool: "Read", input: { file_path: "/secret" } });
  expect(await device.prepare()).toMatchObject({ tool: "Read", policy: { ask: [{ match: "*secret*" }] } });
  expect(await caller.nextJson()).toMatchObject({ id: "2", type: "approval" });

  const back = await AgentDevice.come(identity, { manifest: "manifest-2", ask: [{ tools: ["Write"] }] });
  caller.send({ id: "3", tool: "Write", input: {} });
  expect(await back.prepare()).toMatchObject({ tool: "Write" });
});

it("asks the device about each call while it has yet to tell its new rules", async () => {
  const home = await askedHome({ owner: true, effects: ["read", "write", "execute"] });
  const { caller, identity } = home;
  const next = await AgentDevice.dial(identity.id);
  next.send({
    ...(await registerFrame(identity.id, identity.key, next.nonce, {
      journal: "journal-1",
      manifest: "new",
    })),
    protocol: 2,
  });
  expect(await next.expect("device_registered")).toMatchObject({ manifest_wanted: true });
  caller.send({ id: "1", tool: "Bash", input: { command: "make" } });
  caller.send({ id: "2", tool: "Read", input: {} });
  await next.prepare();
  await next.prepare({ ask: false, binding: undefined, question: undefined });
  expect(await next.serve("read")).toMatchObject({ tool: "Read" });
  const frames = [];
  for (let n = 0; n < 3; n++) frames.push(await caller.nextJson());
  expect(frames).toMatchObject([
    { id: "1", type: "accepted" },
    { id: "1", type: "approval", state: "pending" },
    { id: "2", output: "read" },
  ]);

  next.send({ type: "manifest", hash: "new", tools: TOOLS, ask: [{ tools: ["Write"] }] });
  caller.send({ id: "3", tool: "Read", input: {} });
  await next.serve("known now");
  expect(await caller.nextJson()).toMatchObject({ id: "3", output: "known now" });
});

it("answers with what the device says of the input, without asking anybody", async () => {
  const home = await askedHome();
  const { device, caller, person } = home;
  caller.send({ id: "1", tool: "Bash", input: {} });
  const error = { code: "INVALID_PARAMETERS", message: "command: is missing", hint: "Give one" } as const;
  await device.prepare({ ask: false, error });
  expect(await caller.nextJson()).toMatchObject({ type: "accepted" });
  expect(await caller.nextJson()).toMatchObject({
    ...{ id: "1", type: "error", code: "INVALID_PARAMETERS", output: error.message, hop: "agent" },
  });
  expect(await waiting(person)).toEqual([]);
});

it("passes on that something changed since it was allowed", async () => {
  const home = await askedHome();
  const { approval, call } = await askFor(home, "1");
  await decide(home, approval, { decision: "allow" });
  await home.caller.nextJson();
  const execute = await home.device.expect("tool_execute");
  const why = { code: "CONFLICT", hop: "agent" } as const;
  home.device.answer(execute, "It has changed", { status: "error", code: "CONFLICT", ran: false }, why);
  expect(await home.caller.nextJson()).toMatchObject({ id: "1", code: "CONFLICT", hop: "agent" });
  expect(await recordOf(home, call)).toMatchObject({ state: "finished", approval: { state: "allowed" } });
});

it("denies with a word to the caller, hidden characters written out", async () => {
  const home = await askedHome();
  const { approval, call } = await askFor(home, "1");
  await decide(home, approval, { decision: "deny", note: "use\u202E make check" });
  const output = "The owner denied this call: use\\u{202E} make check";
  expect(await home.caller.nextJson()).toMatchObject({ id: "1", code: "APPROVAL_DENIED", output });
  expect(await recordOf(home, call)).toMatchObject({
    ...{ state: "expired", code: "APPROVAL_DENIED", outcome: { type: "error", output } },
    approval: { state: "denied" },
  });
  expect(home.device.unread).toBe(0);
});

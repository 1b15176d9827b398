/** An AI's call waits until a person decides; then it runs once, or never. */
import { expect, it } from "vitest";
import { approvalOf, askedHome, askFor, decide, recordOf, waiting } from "../helpers/approvals.ts";

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

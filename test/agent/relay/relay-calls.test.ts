import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { Dispatcher } from "../../../agent/core/dispatcher.ts";
import { Journal } from "../../../agent/core/journal.ts";
import { fixedTools } from "../../../agent/core/tool-source.ts";
import { LOCAL_OWNER, LocalCalls } from "../../../agent/local/local-calls.ts";
import { RelayCalls } from "../../../agent/relay/calls.ts";
import type { Link } from "../../../agent/relay/link.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { OWNER, silentLog, smallToolbox } from "../core/small-tools.ts";

/** A connection that keeps what it is given. */
function line() {
  const sent: unknown[] = [];
  const link = {
    isOpen: true,
    sendText: (frame: unknown) => sent.push(frame),
    sendOutcome: async ({ header }: { header: unknown }) => sent.push(header),
  };
  return { sent, link: link as unknown as Link };
}

function relayCalls() {
  const journal = new Journal(join(temporaryFolder(), "journal"));
  onTestFinished(() => journal.close());
  const toolbox = smallToolbox();
  const device = "box";
  const policy = { current: () => ({}) };
  const tools = fixedTools(toolbox.tools);
  const dispatcher = new Dispatcher({ device, policy, journal, log: silentLog, ...toolbox, tools });
  const streams = { serve: async () => undefined, refuse: () => undefined };
  const options = { device, dispatcher, journal, streams, log: silentLog };
  const calls = new RelayCalls({ ...options, onSessionEnd: () => {}, onSystemCommand: () => {} });
  const local = new LocalCalls({ device, tools, dispatcher, policy });
  return { calls, local, dispatcher, journal, runs: toolbox.runs };
}

test("an outcome that the disk did not take, while no link was up, is sent when the relay asks", async () => {
  const { calls, dispatcher, journal, runs } = relayCalls();
  vi.spyOn(journal, "finish").mockImplementation(() => {
    throw new Error("disk full");
  });
  const { link: lost } = line();
  calls.handle(
    {
      ...{ type: "tool_execute", tool_call_id: "c1", id: "1", tool: "Write", grant: OWNER },
      ...{ parameters: { file_path: "x", content: "y" }, timeout_sec: 5 },
    },
    lost,
  );
  await expect.poll(() => dispatcher.isRunning("c1")).toBe(false);
  const { link, sent } = line();
  calls.attach(link);
  calls.handle({ type: "call_status", tool_call_ids: ["c1"] }, link);
  expect(sent).toEqual([
    { type: "call_status", calls: [{ tool_call_id: "c1", state: "finished" }] },
    expect.objectContaining({ call: "c1", status: "success" }),
  ]);
  expect(runs.get("Write")).toBe(1);
});

test("the relay neither hears of a call of this machine's programs nor stops it, though it knows the name", async () => {
  const { calls, dispatcher, runs } = relayCalls();
  const { link, sent } = line();
  calls.attach(link);
  const input = { command: "sleep", ms: 200 };
  const outcome = dispatcher.run({ call: "c1", tool: "Bash", input, grant: LOCAL_OWNER });
  const execute = {
    type: "tool_execute",
    tool_call_id: "c1",
    id: "1",
    tool: "Bash",
    timeout_sec: 5,
  } as const;
  const never = { type: "call_status", calls: [{ tool_call_id: "c1", state: "never" }] };
  const conflict = expect.objectContaining({ call: "c1", code: "CONFLICT", ran: false });
  const ask = async () => {
    sent.length = 0;
    calls.handle({ type: "tool_cancel", tool_call_id: "c1" }, link);
    calls.handle({ type: "call_status", tool_call_ids: ["c1"] }, link);
    calls.handle({ ...execute, parameters: input, grant: OWNER }, link);
    await expect.poll(() => sent.length).toBe(2);
    expect(sent).toEqual([never, conflict]);
  };
  await ask();
  expect((await outcome).header.status).toBe("success");
  await ask();
  calls.handle({ ...execute, parameters: {}, replay: true }, link);
  await expect.poll(() => sent.at(-1)).toMatchObject({ call: "c1", code: "OUTCOME_UNKNOWN" });
  expect(runs.get("Bash")).toBe(1);
});

test("a local caller does not stop a call of the relay's, though it knows the name", async () => {
  const { local, dispatcher } = relayCalls();
  const input = { command: "sleep", ms: 50 };
  const outcome = dispatcher.run({ call: "c1", tool: "Bash", input, grant: OWNER });
  expect(local.cancel("c1")).toBe(false);
  expect((await outcome).header.status).toBe("success");
  expect(local.cancel("c1")).toBe(false);
});

/** What a pause does to calls, and what of calls can be watched. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Paused } from "@matrx/shared/paused.ts";
import { expect, onTestFinished, test } from "vitest";
import { Activity, type ActivityEntry, activityEntrySchema } from "../../../agent/core/activity.ts";
import type { CallRequest } from "../../../agent/core/call-request.ts";
import { Dispatcher } from "../../../agent/core/dispatcher.ts";
import { Journal } from "../../../agent/core/journal.ts";
import { Sessions } from "../../../agent/core/sessions.ts";
import { fixedTools } from "../../../agent/core/tool-source.ts";
import type { Answer } from "../../../shared/caller/to-caller.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { OWNER, READER, silentLog, smallTools } from "./small-tools.ts";

function start() {
  const journal = new Journal(join(temporaryFolder(), "j"));
  onTestFinished(() => journal.close());
  const { tools, runs } = smallTools();
  const pause: { current: Paused | undefined } = { current: undefined };
  const activity = new Activity();
  const dispatcher = new Dispatcher({
    ...{ device: "box", sessions: new Sessions(), policy: { current: () => ({}) }, log: silentLog },
    ...{
      checkPaths: async () => undefined,
      lookAtPaths: async () => [],
      lookInside: async () => [],
      tools: fixedTools(tools),
      journal,
      pause,
      activity,
      windDownMs: 500,
    },
  });
  const run = async (request: Partial<CallRequest>) => {
    const whole = { call: randomUUID(), tool: "Read", input: { file_path: "/a" }, grant: OWNER, ...request };
    const { header, body } = await dispatcher.run(whole);
    return { header, answer: JSON.parse(Buffer.from(body).toString()) as Answer };
  };
  const started = (tool: string) =>
    new Promise<void>((resolve) => {
      activity.subscribe((entry) => entry.type === "started" && entry.tool === tool && resolve());
    });
  return { dispatcher, run, runs, pause, activity, started };
}

test("a pause for everyone refuses every call before anything runs, and says how to lift it", async () => {
  const { run, runs, pause } = start();
  pause.current = "everyone";
  for (const grant of [OWNER, READER]) {
    const { header, answer } = await run({ grant });
    expect(header).toMatchObject({ status: "error", code: "PERMISSION_DENIED" });
    expect(answer).toMatchObject({
      metadata: { reason: "PAUSED", paused: "everyone" },
      hint: expect.stringContaining("matrx resume"),
    });
  }
  const write = await run({ tool: "Write", input: { file_path: "/a", content: "" } });
  expect(write.header).toMatchObject({ code: "PERMISSION_DENIED", ran: false });
  expect(runs.size).toBe(0);
  pause.current = undefined;
  expect((await run({})).header.status).toBe("success");
});

test("a pause for AI grants leaves the owner's alone", async () => {
  const { run, pause } = start();
  pause.current = "ai";
  expect((await run({ grant: READER })).answer.code).toBe("PERMISSION_DENIED");
  expect((await run({})).header.status).toBe("success");
});

test("what had run before is still answered: the relay must not take it for refused", async () => {
  const { run, pause, runs } = start();
  const call = { call: "c1", tool: "Write", input: { file_path: "/a", content: "x" } };
  await run(call);
  pause.current = "everyone";
  expect((await run(call)).answer).toMatchObject({ type: "success", output: "wrote x" });
  expect(runs.get("Write")).toBe(1);
});

test("running calls of those concerned stop, with the reason; others go on", async () => {
  const { dispatcher, run, started } = start();
  const [ofReader, ofOwner] = [started("Grep"), started("Bash")];
  const reading = run({ call: "of-ai", tool: "Grep", input: {}, grant: READER });
  const owners = run({ tool: "Bash", input: { command: "sleep", ms: 300 } });
  await Promise.all([ofReader, ofOwner]);
  expect([...(await dispatcher.stopFor("ai", "It was paused"))]).toEqual(["of-ai"]);
  expect((await reading).answer).toMatchObject({ code: "CANCELLED", output: "It was paused" });
  expect((await owners).header.status).toBe("success");
});

test("each call is seen as it happens, with its caller, and without secrets", async () => {
  const { run, activity, pause } = start();
  const secret = { command: "say token=abcdefgh1234 done" };
  await run({ call: "c1", tool: "Bash", input: secret });
  await run({ call: "c2", grant: READER });
  await run({ call: "c3", tool: "Write", input: { file_path: "/a", content: "", password: "open sesame" } });
  pause.current = "everyone";
  await run({ call: "c4" });
  const seen = activity.recent().map((entry) => activityEntrySchema.parse(entry));
  expect(seen).toEqual(activity.recent());
  expect(seen).toMatchObject([
    {
      ...{ type: "started", call: "c1", tool: "Bash", effect: "execute", surface: "relay" },
      ...{ grant: { id: OWNER.id, owner: true }, input: { command: "say token=[redacted] done" } },
    },
    { type: "finished", call: "c1", status: "success", exit: 3, preview: "token=[redacted] done" },
    { type: "started", call: "c2", grant: { id: READER.id, owner: false } },
    { type: "finished", call: "c2", preview: "read /a" },
    { type: "refused", call: "c3", code: "INVALID_PARAMETERS", input: { password: "[redacted]" } },
    { type: "refused", call: "c4", code: "PERMISSION_DENIED" },
  ]);
  expect(JSON.stringify(seen)).not.toMatch(/abcdefgh|sesame/);
});

test("activity is bounded: the latest 200 entries, of bounded size", async () => {
  const { run, activity } = start();
  const file_path = "x".repeat(5000);
  const heard: ActivityEntry[] = [];
  const unsubscribe = activity.subscribe((entry) => heard.push(entry));
  for (let n = 0; n < 150; n++) await run({ input: { file_path } });
  unsubscribe();
  await run({ input: { file_path } });
  expect(activity.recent()).toHaveLength(200);
  expect(heard).toHaveLength(300);
  expect(Math.max(...activity.recent().map((entry) => JSON.stringify(entry).length))).toBeLessThan(1200);
});

/** Whose an upload is, and what it may: its id is no way around a grant, a policy or a rule that asks. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeCallId, makeGrantId } from "@matrx/shared/ids.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import { expect, test } from "vitest";
import { ApprovedState } from "../../../agent/core/approved-state.ts";
import { parseInput } from "../../../agent/core/input.ts";
import { asking } from "../core/asking.ts";
import { failure, Workbench } from "../tools/workbench.ts";
import { append, arrived, begin, OPEN } from "./uploading.ts";

const STEPS = [
  ["UploadAppend", { offset: 5 }],
  ["UploadCommit", {}],
  ["UploadInfo", {}],
  ["UploadAbort", {}],
] as const;

function confined(bench: Workbench): GrantScope {
  return { id: makeGrantId(), owner: false, effects: ["read", "write"], paths: [bench.home] };
}

/** As a caller of a grant does, in a session of its own. */
function as(bench: Workbench, grant: GrantScope, policy: Policy = {}) {
  return { grant, policy, session: bench.newSession(grant) };
}

test("a caller limited to folders uploads into them, and nowhere else", async () => {
  const bench = await Workbench.open();
  const grant = as(bench, confined(bench));
  const upload = await begin(bench, { path: "a.txt" }, grant);
  await append(bench, upload, 0, [Buffer.from("hello")], grant);
  await bench.call("UploadCommit", { upload }, grant);
  expect(readFileSync(bench.at("a.txt"), "utf8")).toBe("hello");
  const outside = begin(bench, { path: join(bench.home, "..", "a.txt") }, grant);
  expect(await failure(outside)).toMatchObject({ code: "PERMISSION_DENIED" });
});

test("the dispatcher lets a caller limited to folders use each of the tools", async () => {
  const { bench, run, dispatcher } = await asking();
  const grant = confined(bench);
  for (const [tool] of [["Upload"], ...STEPS])
    expect([tool, dispatcher.mayCall(tool, { grant })]).toEqual([tool, true]);
  const { answer } = await run("Upload", { path: "a.txt" }, { grant });
  const upload = answer.metadata?.upload;
  const aborted = await run("UploadAbort", { upload }, { grant });
  expect(aborted.answer).toMatchObject({ type: "success" });
});

test("another grant's upload is not there; an owner sees it and may remove it", async () => {
  const bench = await Workbench.open();
  const upload = await begin(bench, { path: "a.txt" }, as(bench, confined(bench)));
  const other = as(bench, confined(bench));
  const unknown = `upload_${"0".repeat(20)}`;
  for (const [tool, input] of STEPS) {
    const error = await failure(bench.call(tool, { upload, ...input }, { ...other, ...OPEN }));
    const none = await failure(bench.call(tool, { upload: unknown, ...input }, { ...other, ...OPEN }));
    expect([tool, error.code]).toEqual([tool, "NOT_FOUND"]);
    expect(error.message.replace(upload, unknown)).toBe(none.message);
  }
  for (const tool of ["UploadAppend", "UploadCommit"] as const) {
    const input = { upload, ...(tool === "UploadAppend" && { offset: 0 }) };
    expect(await failure(bench.call(tool, input, OPEN))).toMatchObject({ code: "NOT_FOUND" });
  }
  expect(await arrived(bench, upload)).toBe(0);
  await bench.call("UploadAbort", { upload });
  expect(readdirSync(bench.home)).toEqual([]);
});

test.each<[string, (bench: Workbench) => Policy]>([
  ["a path that was closed", (bench) => ({ denied_paths: [bench.at("inner")] })],
  ["folders that were limited", (bench) => ({ allowed_paths: [bench.at("elsewhere")] })],
  ["a file pattern that was closed", () => ({ denied_paths: ["**/a.txt"] })],
])("%s meanwhile refuse every step but its removal", async (_what, policyOf) => {
  const bench = await Workbench.open();
  await bench.put("inner/a.txt", "old");
  const grant = confined(bench);
  const upload = await begin(bench, { path: "inner/a.txt" }, as(bench, grant));
  await append(bench, upload, 0, [Buffer.from("hello")], as(bench, grant));
  const limited = { ...as(bench, grant, policyOf(bench)), ...OPEN };
  for (const [tool, input] of STEPS.filter(([name]) => name !== "UploadAbort")) {
    const error = await failure(bench.call(tool, { upload, ...input }, limited));
    expect([tool, error.code]).toEqual([tool, "PERMISSION_DENIED"]);
  }
  expect(readFileSync(bench.at("inner/a.txt"), "utf8")).toBe("old");
  await bench.call("UploadCommit", { upload }, as(bench, grant));
  expect(readFileSync(bench.at("inner/a.txt"), "utf8")).toBe("hello");
  const given = await begin(bench, { path: "inner/a.txt" }, as(bench, grant));
  await bench.call("UploadAbort", { upload: given }, limited);
  expect(readdirSync(bench.at("inner"))).toEqual(["a.txt"]);
});

test("who may no longer use Upload finishes none either", async () => {
  const bench = await Workbench.open();
  const upload = await begin(bench, { path: "a.txt" });
  for (const [tool, input] of STEPS.slice(0, 2)) {
    const policy = { denied_tools: ["Upload"] };
    const error = await failure(bench.call(tool, { upload, ...input }, { policy, ...OPEN }));
    expect([tool, error.code]).toEqual([tool, "PERMISSION_DENIED"]);
  }
});

test("a person is asked once: about the upload, not about its steps", async () => {
  const { bench, asked, prepare, run } = await asking();
  const input = { path: "a.txt", size: 0 };
  const { call, approval, question } = await asked("Upload", input);
  expect(question.summary).toBe(`Upload 0 bytes to ${bench.at("a.txt")}, as a new file`);
  expect(question.warnings).toHaveLength(1);
  expect((await run("Upload", input, { call })).answer).toMatchObject({ code: "UNAVAILABLE" });
  const { answer } = await run("Upload", input, { call, approval });
  const upload = answer.metadata?.upload;
  for (const [tool, step] of STEPS) expect(await prepare(tool, { ...step, upload })).toEqual({ ask: false });
  expect((await run("UploadCommit", { upload })).answer).toMatchObject({ type: "success" });
  expect(readFileSync(bench.at("a.txt"), "utf8")).toBe("");
});

test("what a person allowed is not put over a file that came or changed since", async () => {
  const { bench, asked, run } = await asking();
  await bench.put("b.txt", "old");
  for (const path of ["a.txt", "b.txt"]) {
    const { call, approval } = await asked("Upload", { path });
    const { answer } = await run("Upload", { path }, { call, approval });
    await bench.put(path, "theirs");
    const committed = await run("UploadCommit", { upload: answer.metadata?.upload });
    expect(committed.answer).toMatchObject({
      code: "CONFLICT",
      metadata: { reason: "changed_since_approved" },
    });
    expect(readFileSync(bench.at(path), "utf8")).toBe("theirs");
  }
});

test("a rule made after an upload began asks about what adds to it, by path and by tool", async () => {
  const policy: { ask?: Policy["ask"] } = {};
  const { bench, asked, prepare, run } = await asking({ policy });
  const owner = { grant: bench.owner };
  const { answer } = await run("Upload", { path: "a.txt" }, owner);
  const upload = answer.metadata?.upload;
  for (const ask of [[{ tools: ["Upload"] }], [{ match: "*/a.txt" }]]) {
    policy.ask = ask;
    for (const [index, [tool, step]] of STEPS.entries())
      expect(await prepare(tool, { ...step, upload }, owner)).toMatchObject({ ask: index < 2 });
    expect((await run("UploadCommit", { upload }, owner)).answer).toMatchObject({ code: "UNAVAILABLE" });
  }
  policy.ask = [{ match: "*/b.txt" }];
  expect(await prepare("UploadCommit", { upload }, owner)).toEqual({ ask: false });
  policy.ask = [{ tools: ["Upload"] }];
  const call = makeCallId();
  const { approval } = await asked("UploadCommit", { upload }, { ...owner, call });
  expect((await run("UploadCommit", { upload }, { ...owner, call, approval })).answer).toMatchObject({
    type: "success",
  });
});

test("whoever allowed one step under such a rule is not asked about the next ones", async () => {
  const policy: { ask?: Policy["ask"] } = {};
  const { bench, asked, prepare } = await asking({ policy });
  const owner = { grant: bench.owner };
  const upload = await begin(bench, { path: "a.txt" });
  policy.ask = [{ tools: ["Upload"] }];
  const { approval } = await asked("UploadAppend", { upload, offset: 0 }, owner);
  expect(approval.binding).toBeDefined();
  const allowed = new ApprovedState(bench.home, [
    { path: bench.at("a.txt"), named: bench.at("a.txt"), intent: "write", kind: "missing" },
  ]);
  const append = bench.tool("UploadAppend");
  const input = parseInput(append, { upload, offset: 0 });
  await append.handle(input, { ...bench.context(), opensStream: true, approved: allowed });
  expect(await prepare("UploadCommit", { upload }, owner)).toEqual({ ask: false });
});

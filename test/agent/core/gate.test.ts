/** The gate: what each tool needs by its input, and that nothing runs which may not have it. Real tools, real folders. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeCallId } from "@matrx/shared/ids.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import { expect, onTestFinished, test, vi } from "vitest";
import { PolicyFile } from "../../../agent/config/policy-file.ts";
import { Dispatcher } from "../../../agent/core/dispatcher.ts";
import { Gate, type Needs, type PathNeed, shellOf } from "../../../agent/core/gate.ts";
import { parseInput } from "../../../agent/core/input.ts";
import { Journal } from "../../../agent/core/journal.ts";
import { jsonSchemaOf } from "../../../agent/core/manifest.ts";
import { fixedTools } from "../../../agent/core/tool-source.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { Workbench } from "../tools/workbench.ts";
import { silentLog } from "./small-tools.ts";

const read = (path: string): PathNeed => ({ path, intent: "read" });
const write = (path: string): PathNeed => ({ path, intent: "write" });
const remove = (path: string): PathNeed => ({ path, intent: "remove", isEntry: true });
const whole = (need: PathNeed): PathNeed => ({ ...need, isWhole: true });
const put = (path: string): PathNeed => ({ path, intent: "write", isEntry: true });

const DELETES = [{ tool: "Delete", does: "This patch deletes or moves files" }] as const;
const patch = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");
const CHANGES = ["@@", "-a", "+b"];

/** Of each tool that names a path, what it asks for. */
const NEEDS: [tool: string, input: Record<string, unknown>, needs: Needs][] = [
  ["Read", { file_path: "/out/a" }, { paths: [read("/out/a")] }],
  ["Write", { file_path: "/out/a", content: "" }, { paths: [write("/out/a")] }],
  ["Edit", { file_path: "/out/a", old_string: "a", new_string: "b" }, { paths: [write("/out/a")] }],
  ["ApplyPatch", { patch: patch("*** Add File: /out/a", "+x") }, { paths: [write("/out/a")] }],
  [
    "ApplyPatch",
    { patch: patch("*** Update File: a", ...CHANGES), path: "/out" },
    { paths: [write("/out/a")] },
  ],
  ["ApplyPatch", { patch: patch("*** Delete File: /out/a") }, { paths: [remove("/out/a")], tools: DELETES }],
  [
    "ApplyPatch",
    { patch: patch("*** Update File: /out/a", "*** Move to: /out/b", ...CHANGES) },
    { paths: [remove("/out/a"), write("/out/b")], tools: DELETES },
  ],
  ["ListDirectory", { path: "/out" }, { paths: [read("/out")] }],
  ["DirectoryTree", { path: "/out" }, { paths: [read("/out")] }],
  ["Glob", { pattern: "*.ts", path: "/out" }, { paths: [read("/out")] }],
  ["Glob", { pattern: "a/*.ts", path: "/out" }, { paths: [read("/out/a")] }],
  ["Glob", { pattern: "/out/**/x", path: "." }, { paths: [read("/out")] }],
  ["Grep", { pattern: "x", path: "/out" }, { paths: [whole(read("/out"))] }],
  ["search_files", { query: "x", path: "/out" }, { paths: [read("/out")] }],
  ["create_directory", { path: "/out/a" }, { paths: [{ path: "/out/a", intent: "folder" }] }],
  ["Move", { source: "/out/a", destination: "/out/b" }, { paths: [whole(remove("/out/a")), put("/out/b")] }],
  [
    "Move",
    { source: "/out/a", destination: "/out/b/" },
    { paths: [whole(remove("/out/a")), put("/out/b/a")] },
  ],
  ["Delete", { path: "/out/a" }, { paths: [whole(remove("/out/a"))] }],
  ["delete_directory", { path: "/out/a" }, { paths: [whole(remove("/out/a"))] }],
  ["OpenPath", { path: "/out/a" }, { paths: [read("/out/a")] }],
  ["FileInfo", { path: "/out/a" }, { paths: [read("/out/a")] }],
  ["Download", { path: "/out/a" }, { paths: [whole(read("/out/a"))] }],
  ["Upload", { path: "/out/a" }, { paths: [write("/out/a")] }],
  [
    "open_app",
    { app: "paint", args: ["/out/a.png", "https://a.example", "--help"] },
    {
      paths: [read("/out/a.png")],
      subjects: ["paint", "/out/a.png", "https://a.example", "--help"],
      app: { name: "paint", isListedAs: expect.any(Function) },
    },
  ],
];

/** They name no path, but what rules that ask are matched with. */
const SUBJECTS: [tool: string, input: Record<string, unknown>, subject: string][] = [
  ["Bash", { command: "make test" }, "make test"],
  ["OpenUrl", { url: "https://a.example" }, "https://a.example/"],
];
/** A terminal runs commands, so it needs what they need. */
const OF_TERMINALS: [tool: string, input: Record<string, unknown>][] = [
  ["TerminalCreate", {}],
  ["TerminalAttach", { terminal: "term_0000000000" }],
  ["TerminalExecute", { command: "ls" }],
  ["TerminalInput", { terminal: "term_0000000000" }],
];
/** They need what the upload's beginning needed. */
const STEPS = ["UploadAppend", "UploadCommit", "UploadInfo", "UploadAbort"];

const held = (bench: Workbench): GrantScope => ({ ...bench.owner, paths: [bench.home] });

/** Parameters that name something which a gate looks at: whoever takes one says so by `prepare`. */
const NAMED = ["path", "file_path", "source", "destination", "cwd", "command", "url", "app"];
const PATHS = ["path", "file_path", "source", "destination"];

test("each tool that takes a path, a command, an address, a port or an application says what it needs", async () => {
  const { tools } = await Workbench.open();
  const tried = new Set(NEEDS.map(([tool]) => tool));
  for (const tool of tools) {
    const { properties = {} } = jsonSchemaOf(tool.input, "input") as { properties?: object };
    const takes = Object.keys(properties);
    if (tool.family === "ports" || takes.some((one) => NAMED.includes(one)))
      expect(tool.prepare, tool.name).toBeDefined();
    // The path of a request to a port is none of the machine.
    if (takes.some((one) => PATHS.includes(one)) && tool.family !== "ports")
      expect(tried, "has rows above").toContain(tool.name);
  }
});

test.each(SUBJECTS)("%s tells what it is about: %j", async (name, input, subject) => {
  const tool = (await Workbench.open()).tool(name);
  expect(tool.prepare?.(parseInput(tool, input), expect.anything())).toEqual({ subjects: [subject] });
});

test.each(OF_TERMINALS)("%s is refused where commands are", async (tool, input) => {
  const bench = await Workbench.open();
  const { call, handle } = dispatcherOf(bench, { denied_tools: ["Bash"] });
  const { answer } = await call(tool, input);
  expect(answer).toMatchObject({ code: "PERMISSION_DENIED", metadata: { tool: "Bash" } });
  expect(answer.output).toMatch(/^A terminal runs commands, which needs the same permission as Bash/);
  expect(handle).not.toHaveBeenCalled();
});

test.each(NEEDS)("%s needs what its input names: %j", async (name, input, needs) => {
  const bench = await Workbench.open();
  const tool = bench.tool(name);
  const { rights } = bench.admission({ grant: held(bench) });
  expect(tool.prepare?.(parseInput(tool, input), { rights, grant: bench.owner })).toEqual(needs);
});

test("steps of an upload need what its beginning needs, whatever its id", async () => {
  const bench = await Workbench.open();
  const { metadata } = await bench.call("Upload", { path: "a" });
  const { rights } = bench.admission();
  const context = { rights, grant: bench.owner };
  expect(bench.tool("UploadAbort").prepare?.({ upload: metadata?.upload }, context)).toEqual({
    isApproved: true,
  });
  for (const name of STEPS.filter((step) => step !== "UploadAbort")) {
    const tool = bench.tool(name);
    const input = { upload: metadata?.upload, ...(name === "UploadAppend" && { offset: 0 }) };
    const needs = tool.prepare?.(parseInput(tool, input), context);
    expect(needs).toMatchObject({ paths: [write(bench.at("a"))], isApproved: name === "UploadInfo" });
    // Looking at it takes no right to write tools, only the path.
    expect(needs?.tools?.map((one) => one.tool)).toEqual(name === "UploadInfo" ? undefined : ["Upload"]);
  }
});

/** A dispatcher with the tools of a bench, whose handlers only tell that they ran. */
function dispatcherOf(bench: Workbench, policy: Policy = {}) {
  const journal = new Journal(join(temporaryFolder(), "journal"));
  onTestFinished(() => journal.close());
  const handle = vi.fn(async () => ({ output: "ran" }));
  const tools = bench.tools.map((tool) => ({
    ...tool,
    handle,
  }));
  const dispatcher = new Dispatcher({
    ...{
      device: "box-0123456789",
      tools: fixedTools(tools),
      sessions: bench.sessions,
      journal,
      log: silentLog,
    },
    ...{ policy: { current: () => policy }, checkPaths: bench.checkPaths },
    ...{ lookAtPaths: bench.lookAtPaths, lookInside: bench.lookInside },
  });
  const call = async (
    tool: string,
    input: Record<string, unknown>,
    { grant = bench.owner, relayPolicy = {} }: { grant?: GrantScope; relayPolicy?: Policy } = {},
  ) => {
    const id = makeCallId();
    const { header, body } = await dispatcher.run({ call: id, tool, input, grant, relayPolicy, key: id });
    return { header, answer: JSON.parse(Buffer.from(body).toString()) as Answer };
  };
  return { call, handle, journal };
}

test.each(NEEDS)("%s is refused a path outside its folders before it runs: %j", async (tool, input) => {
  const bench = await Workbench.open();
  const { call, handle } = dispatcherOf(bench, { allowed_apps: ["paint"] });
  const relayPolicy = { allowed_apps: ["paint"] };
  const { header, answer } = await call(tool, input, { grant: held(bench), relayPolicy });
  expect(answer).toMatchObject({ code: "PERMISSION_DENIED", metadata: { allowed_paths: [bench.home] } });
  expect(header.status).toBe("error");
  expect(handle).not.toHaveBeenCalled();
});

test.each([
  ["the device's", { allowed_ports: [22] }, {}],
  ["the relay's", {}, { allowed_ports: [22] }],
])(
  "a port that %s policy does not list is refused before it is connected, and listed ones are not",
  async (_, policy, relayPolicy) => {
    const bench = await Workbench.open();
    const { call, handle } = dispatcherOf(bench, policy);
    const refused = await call("ConnectPort", { port: 5432 }, { relayPolicy });
    expect(refused.answer).toMatchObject({ code: "PERMISSION_DENIED", metadata: { port: 5432 } });
    expect(handle).not.toHaveBeenCalled();
    expect((await call("ConnectPort", { port: 22 }, { relayPolicy })).answer).toMatchObject({
      type: "success",
    });
  },
);

test("a refused effect did not run, so its key is free", async () => {
  const bench = await Workbench.open();
  const { call, journal } = dispatcherOf(bench);
  const { header } = await call("Write", { file_path: "/out/a", content: "" }, { grant: held(bench) });
  expect(header).toMatchObject({ code: "PERMISSION_DENIED", ran: false });
  expect(journal.findByKey(bench.owner.id, header.call)).toBeUndefined();
});

test("what a path leads to counts, and Matrx's own is closed whatever the grant", async () => {
  const bench = await Workbench.open();
  const { call, handle } = dispatcherOf(bench);
  for (const file_path of [bench.state, join(bench.state, "key"), "../state/key"])
    expect((await call("Read", { file_path })).answer.code).toBe("PERMISSION_DENIED");
  expect(handle).not.toHaveBeenCalled();
});

test("what is not there, or cannot be a path, is the tool's to say", async () => {
  const bench = await Workbench.open();
  const { call, handle } = dispatcherOf(bench);
  for (const file_path of ["none/such", "no\0path"]) await call("Read", { file_path });
  expect(handle).toHaveBeenCalledTimes(2);
});

const deletion = { patch: patch("*** Delete File: a") };

test.each([
  [
    "a grant without execute",
    (bench: Workbench) => ({ grant: { ...bench.owner, effects: ["write" as const] } }),
  ],
  ["a grant of other tools", (bench: Workbench) => ({ grant: { ...bench.owner, tools: ["ApplyPatch"] } })],
  ["the relay's policy", () => ({ relayPolicy: { allowed_tools: ["ApplyPatch"] } })],
])("a further tool that %s does not allow refuses the call before it runs", async (_by, limits) => {
  const bench = await Workbench.open();
  const { call, handle } = dispatcherOf(bench);
  const { answer } = await call("ApplyPatch", deletion, limits(bench));
  expect(answer).toMatchObject({ code: "PERMISSION_DENIED", hop: "agent", metadata: { tool: "Delete" } });
  expect(answer.output).toMatch(
    /^This patch deletes or moves files, which needs the same permission as Delete\. /,
  );
  expect(handle).not.toHaveBeenCalled();
  expect(
    (await call("ApplyPatch", { patch: patch("*** Add File: a", "+x") }, limits(bench))).answer.output,
  ).toBe("ran");
});

test.each([
  ["denies commands", { denied_tools: ["Bash"] }],
  ["wants them in the sandbox", { sandbox: "always" }],
  ["names folders", { allowed_paths: ["~/work"] }],
] satisfies [string, Policy][])(
  "a stream that needs a free shell may not go on when the policy %s",
  async (_by, change) => {
    const bench = await Workbench.open();
    const policy: Policy = {};
    const gate = new Gate({ policy: { current: () => policy }, checkPaths: bench.checkPaths });
    const mayGoOn = () =>
      gate.refusalNow(
        "TerminalAttach",
        { grant: bench.owner },
        { tools: [{ tool: "Bash", does: "It runs commands" }], shell: "free" },
      ) === undefined;
    expect(mayGoOn()).toBe(true);
    Object.assign(policy, change);
    expect(mayGoOn()).toBe(false);
  },
);

test("a stream that reaches a confined shell may not go on under other limits", async () => {
  const bench = await Workbench.open();
  const grant = { ...bench.owner, owner: false };
  const gate = new Gate({ policy: { current: () => ({}) }, checkPaths: bench.checkPaths });
  const mayGoOn = (shell: string, more: Partial<GrantScope> = {}) =>
    gate.refusalNow("TerminalAttach", { grant: { ...grant, ...more } }, { shell }) === undefined;
  const own = shellOf(bench.admission({ grant }).rights);
  expect(mayGoOn(own)).toBe(true);
  expect(mayGoOn("free")).toBe(false);
  for (const more of [
    { paths: [bench.home] },
    { denied_paths: ["~/private"] },
    { network: ["example.com"] },
    { effects: ["execute"] },
    { secrets: "open" },
    { owner: true },
  ] satisfies Partial<GrantScope>[])
    expect(mayGoOn(own, more), JSON.stringify(more)).toBe(false);
});

test.each([
  ["the device's own", { allowed_apps: ["paint"] }, {}],
  ["the relay's", {}, { allowed_apps: ["paint"] }],
] satisfies [string, Policy, Policy][])(
  "an application is refused that %s policy does not list",
  async (_whose, own, relayPolicy) => {
    const bench = await Workbench.open();
    const { call, handle } = dispatcherOf(bench, own);
    const { answer } = await call("open_app", { app: "xterm" }, { relayPolicy });
    expect(answer).toMatchObject({ code: "PERMISSION_DENIED", metadata: { allowed_apps: ["paint"] } });
    expect(handle).not.toHaveBeenCalled();
    await call("open_app", { app: "paint" }, { relayPolicy });
    expect(handle).toHaveBeenCalledTimes(1);
  },
);

test("while the device's policy is damaged no call is admitted, and what runs goes on", async () => {
  const bench = await Workbench.open();
  writeFileSync(bench.at("policy.json"), "{");
  const policy = new PolicyFile({ policyFile: bench.at("policy.json") });
  const gate = new Gate({ policy, checkPaths: bench.checkPaths });
  const asker = { grant: bench.owner };
  expect(() => gate.admit("Bash", asker)).toThrow("policy is damaged");
  expect(gate.refusalNow("Bash", asker, { shell: "free" })).toBeUndefined();
});

/** Texts name tools as the caller calls them; what files and programs say is passed on as it is. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import { modelNameOf } from "@matrx/shared/effects.ts";
import { makeCallId, makeSessionId } from "@matrx/shared/ids.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import { expect, onTestFinished, test } from "vitest";
import type { CallRequest } from "../../../agent/core/call-request.ts";
import { Dispatcher } from "../../../agent/core/dispatcher.ts";
import { Journal } from "../../../agent/core/journal.ts";
import { fixedTools } from "../../../agent/core/tool-source.ts";
import { Workbench } from "../tools/workbench.ts";
import { READER, silentLog } from "./small-tools.ts";

const TOOLS = [
  ...["Read", "Write", "Edit", "ApplyPatch", "ListDirectory", "DirectoryTree", "Grep", "Bash", "BashOutput"],
  ...[
    "TaskStop",
    "Move",
    "Delete",
    "delete_directory",
    "ListProcesses",
    "StopProcess",
    "OpenUrl",
    "OpenPath",
  ],
];

async function start(policy: Policy = {}) {
  const bench = await Workbench.open();
  const journal = new Journal(bench.at("../journal"));
  onTestFinished(() => journal.close());
  const dispatcher = new Dispatcher({
    device: "box-0123456789",
    tools: fixedTools(TOOLS.map((name) => bench.tool(name))),
    sessions: bench.sessions,
    policy: { current: () => policy },
    log: silentLog,
    checkPaths: bench.checkPaths,
    lookAtPaths: bench.lookAtPaths,
    lookInside: bench.lookInside,
    journal,
  });
  const session = makeSessionId();
  const call = async (tool: string, input: Record<string, unknown>, more: Partial<CallRequest> = {}) => {
    const request = { call: makeCallId(), session, tool, input, grant: bench.owner, ...more };
    const { body } = await dispatcher.run(request);
    return JSON.parse(Buffer.from(body).toString()) as Answer;
  };
  return { bench, call };
}

const asModel = (tool: string) => modelNameOf(tool) ?? tool;

function textOf({ output, hint }: Answer): string {
  return `${output}\n${hint ?? ""}`;
}

test("hints of errors are in the names that the call came with", async () => {
  const { bench, call } = await start();
  await bench.put("binary.bin", Buffer.from([0, 1, 2, 3, 255]));
  await bench.put("text.txt", "     1\tone\n");
  await bench.put("folder/file", "x");
  const cases: [tool: string, input: Record<string, unknown>, named: string][] = [
    ["Read", { file_path: bench.at("no/such") }, "ListDirectory"],
    ["Read", { file_path: bench.at("folder") }, "ListDirectory"],
    ["Read", { file_path: bench.at("binary.bin") }, "Bash"],
    ["Edit", { file_path: bench.at("binary.bin"), old_string: "a", new_string: "b" }, ""],
    ["Edit", { file_path: bench.at("text.txt"), old_string: "", new_string: "b" }, "Write"],
    ["Edit", { file_path: bench.at("text.txt"), old_string: "     1\t     1\tone", new_string: "b" }, "Read"],
    ["ListDirectory", { path: bench.at("text.txt") }, "Read"],
    ["DirectoryTree", { path: bench.at("text.txt") }, "Read"],
    ["Delete", { path: bench.at("folder") }, "ListDirectory"],
    ["delete_directory", { path: bench.at("text.txt") }, "Delete"],
    ["BashOutput", { bash_id: "nothing" }, "Bash"],
    ["StopProcess", { pid: 2 ** 31 - 1, started: "2026-01-01T00:00:00Z" }, "ListProcesses"],
    ["OpenUrl", { url: "file:///etc/passwd" }, "OpenPath"],
    ["Read", { path: "x" }, ""],
    ["Read", { nonsense: "x" }, "Read"],
  ];
  for (const [tool, input, named] of cases) {
    const own = await call(tool, input);
    const model = await call(asModel(tool), input);
    expect(own.type, tool).toBe("error");
    if (named !== "") {
      expect(textOf(own)).toMatch(new RegExp(`\\b${named}\\b`));
      expect(textOf(model)).toContain(asModel(named));
    }
    expect(inOwnNames(textOf(model)), tool).toBe(textOf(own));
  }
});

/** What a model is told, by the tools' own names. */
function inOwnNames(text: string): string {
  return text.replace(/local_\w+/g, (name) => TOOLS.find((tool) => asModel(tool) === name) ?? name);
}

test("notes in results are, too, and what a command wrote is left alone", async () => {
  const { call } = await start();
  const begun = await call("local_bash", { command: "sleep 100", run_in_background: true });
  expect(begun.output).toContain("local_bash_output");
  expect(begun.output).toContain("local_task_stop");
  expect(begun.output).not.toMatch(/BashOutput|TaskStop/);
  const said = "Read on with BashOutput, `Bash` and local_read, end it with TaskStop";
  const echoed = await call("local_bash", { command: `echo '${said}'` });
  expect(echoed.output).toBe(`${said}\n`);
  expect((await call("Bash", { command: `echo '${said}'` })).output).toBe(`${said}\n`);
});

test("a file that speaks of tools is shown as it is, by whatever name it is read", async () => {
  const { bench, call } = await start();
  const text = "Use Grep, ListDirectory or `Read`; \u{e000}Read\u{e001}; local_grep.";
  const file = await bench.put("about.md", text);
  for (const tool of ["Read", "local_read"])
    expect((await call(tool, { file_path: file, raw: true })).output).toBe(text);
});

test("calls that run at once do not hear each other's names", async () => {
  const { bench, call } = await start();
  const missing = { file_path: bench.at("none") };
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => call(index % 2 ? "local_read" : "Read", missing)),
  );
  for (const [index, { hint }] of answers.entries())
    expect(hint).toBe(`Look with ${index % 2 ? "local_list_directory" : "ListDirectory"}`);
});

test("what is refused, too slow or not there is named as it was called", async () => {
  const { call } = await start({ allowed_tools: ["Read", "Bash"] });
  const refused = await call("local_write", { file_path: "/x", content: "" }, { grant: READER });
  expect(refused).toMatchObject({ code: "PERMISSION_DENIED", metadata: { tool: "Write" } });
  expect(refused.output).toContain("local_write needs");
  expect((await call("local_grep", { pattern: "x" })).output).toContain("local_grep is not allowed");
  expect((await call("local_raed", {})).hint).toContain('"local_read"');
  expect((await call("Raed", {})).hint).toContain('"Read"');
  expect((await call("local_bash", { command: "sleep 5" }, { timeoutMs: 20 })).code).toBe("TIMEOUT");
});

test("a relay says by `called` what the caller called a tool", async () => {
  const { bench, call } = await start();
  const missing = { file_path: bench.at("none") };
  const hintOf = async (called: string | undefined) => (await call("Read", missing, { called })).hint;
  expect(await hintOf("local_read")).toBe("Look with local_list_directory");
  expect(await hintOf(undefined)).toBe("Look with ListDirectory");
  // A name that is none of this device's changes nothing.
  expect(await hintOf("local_write")).toBe("Look with ListDirectory");
});

/** What runs for a person at a terminal, or for programs, speaks of tools by their own names. */
const FOR_PEOPLE = /^(?:cli|doctor|local|bin)\//;

const ODD =
  / (?:BashOutput|TaskStop|ListDirectory|DirectoryTree|SystemInfo|SystemLog|ListProcesses|StopProcess|OpenUrl|OpenPath|ApplyPatch|search_files|create_directory|delete_directory|open_app)\b/;
const PLAIN =
  /\b(?:[Uu]se|with|by|that|or|to|of) (?:Bash|Read|Write|Edit|Grep|Glob|Move|Delete|Screenshot)\b(?!"| File)/;

test("no text of a tool has a name of another written into it", () => {
  const root = join(import.meta.dirname, "../../../agent");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  const found = files
    .filter((file) => !FOR_PEOPLE.test(file))
    .flatMap((file) => textLines(readFileSync(join(root, file), "utf8")).map((line) => `${file}: ${line}`))
    .filter((line) => ODD.test(line) || PLAIN.test(line));
  expect(found).toEqual([]);
});

/** Lines with text in them, without comments, and without names that are marked. */
function textLines(source: string): string[] {
  return source
    .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")
    .split("\n")
    .filter((line) => /["`]/.test(line) && !/^import|^} from/.test(line))
    .map((line) => line.replace(/\$\{toolName\("\w+"\)\}|`\w+`/g, "…"));
}

/** Recordings of terminals, which a policy asks for: with a real holder, real shells and real files. */
import { execFile } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import * as z from "zod";
import { newRecording } from "../../../agent/terminals/recordings.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { failure, Workbench } from "./workbench.ts";

const bash = { shell: "/bin/bash" };
const RECORDED = { policy: { record_terminals: true } } as const;

const header = z.object({
  version: z.literal(2),
  width: z.int(),
  height: z.int(),
  timestamp: z.int(),
  env: z.object({ TERM: z.string(), SHELL: z.string() }),
});
const event = z.tuple([z.number(), z.enum(["o", "r", "m"]), z.string()]);

function recordingsOf(bench: Workbench): string[] {
  const folder = join(bench.state, "terminals", "recordings");
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name));
}

/** Checks the file against the format, line by line. */
function read(file: string) {
  const [first = "", ...rest] = readFileSync(file, "utf8").trimEnd().split("\n");
  return {
    header: header.parse(JSON.parse(first)),
    events: rest.map((line) => event.parse(JSON.parse(line))),
  };
}

async function run(bench: Workbench, command: string, terminal?: unknown): Promise<string> {
  return (await bench.call("TerminalExecute", { command, terminal }, RECORDED)).output;
}

test("what a terminal shows is recorded with its times and sizes, and not what is typed unseen", async () => {
  const bench = await Workbench.open();
  const { metadata } = await bench.call("TerminalCreate", { ...bash, cols: 100, rows: 30 }, RECORDED);
  expect(metadata).toMatchObject({ recorded: true });
  const { terminal } = metadata ?? {};
  await run(bench, "printf 'h\\303\\251llo \\346\\274'; sleep 0.3; printf '\\242\\n'", terminal);
  const asked = bench.call("TerminalExecute", { command: "read -rs x", terminal, yield_ms: 300 }, RECORDED);
  await asked;
  await bench.call("TerminalInput", { terminal, text: "unseen-password\n" }, RECORDED);
  await bench.terminals.resize(String(terminal), { cols: 120, rows: 40 }, bench.owner);
  await run(bench, "exit", terminal);
  const [file = ""] = recordingsOf(bench);
  expect(file).toMatch(/\/\d{8}T\d{6}Z-term_\w{10}\.cast$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const { header, events } = read(file);
  expect(header).toMatchObject({ width: 100, height: 30, env: { SHELL: "/bin/bash" } });
  const shown = events.flatMap(([, kind, data]) => (kind === "o" ? [data] : [])).join("");
  expect(shown).toContain("héllo 漢\r\n");
  expect(shown).not.toContain("unseen-password");
  expect(events.filter(([, kind]) => kind === "r").map(([, , size]) => size)).toEqual(["120x40"]);
  const times = events.map(([time]) => time);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(times.at(-1)).toBeGreaterThan(0.3);
});

test("without the policy nothing is recorded, and with it a terminal from before is closed to callers", async () => {
  const bench = await Workbench.open();
  const { metadata } = await bench.call("TerminalCreate", bash);
  expect(metadata).not.toHaveProperty("recorded");
  expect(() => recordingsOf(bench)).toThrow("ENOENT");
  const { terminal } = metadata ?? {};
  for (const [tool, input] of [
    ["TerminalExecute", { command: "true" }],
    ["TerminalInput", {}],
    ["TerminalAttach", {}],
  ] as const)
    expect(
      await failure(bench.call(tool, { terminal, ...input }, { ...RECORDED, opensStream: true })),
    ).toMatchObject({ code: "PERMISSION_DENIED", details: { reason: "NOT_RECORDED" } });
  // Another one is opened for it.
  expect(await run(bench, "echo recorded")).toBe("recorded\n");
  expect(recordingsOf(bench)).toHaveLength(1);
});

test("a recording is closed to all tools", async () => {
  const bench = await Workbench.open();
  await run(bench, "true");
  const [file = ""] = recordingsOf(bench);
  for (const [tool, input] of [
    ["Read", { file_path: file }],
    ["Delete", { path: file }],
    ["Write", { file_path: file, content: "" }],
  ] as const)
    expect((await failure(bench.call(tool, input))).code).toBe("PERMISSION_DENIED");
});

test("where no recording can be made, no terminal is opened", async () => {
  const bench = await Workbench.open();
  mkdirSync(join(bench.state, "terminals"), { recursive: true, mode: 0o700 });
  writeFileSync(join(bench.state, "terminals", "recordings"), "in the way");
  expect(await failure(bench.call("TerminalCreate", bash, RECORDED))).toMatchObject({
    message: expect.any(String),
  });
  expect((await bench.call("TerminalList", {})).metadata?.terminals).toEqual([]);
});

test("what a full disk takes only a part of ends the recording, and leaves no half line", async () => {
  const file = join(temporaryFolder(), "a.cast");
  // 100 blocks of 1,024 bytes. Node ends at this signal, unless it is ignored.
  const limited = `trap '' XFSZ; ulimit -f 100; exec "$0" "$@"`;
  const program = join(import.meta.dirname, "../terminals/recording-that-fills.ts");
  const { stdout } = await promisify(execFile)("/bin/bash", ["-c", limited, process.execPath, program, file]);
  const { events } = read(file);
  expect(events.length).toBeGreaterThan(10);
  // The piece that does not fit is the one at which it ends.
  expect(stdout).toBe(`ended at ${events.length}\n`);
});

test("the oldest recordings make room, by number and by size", () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o700);
  const nameOf = (count: number) => `20260101T00${String(count).padStart(4, "0")}Z-term_0000000000.cast`;
  for (let count = 0; count < 205; count++) writeFileSync(join(folder, nameOf(count)), "x");
  const path = newRecording(folder, "term_1111111111", new Date("2026-02-03T04:05:06Z"));
  expect(path).toBe(join(folder, "20260203T040506Z-term_1111111111.cast"));
  expect(readdirSync(folder)).toHaveLength(199);
  expect(readdirSync(folder)).not.toContain(nameOf(5));
  truncateSync(join(folder, nameOf(100)), 3 * 1024 ** 3);
  newRecording(folder, "term_2222222222", new Date());
  const left = readdirSync(folder);
  expect(left).toContain(nameOf(101));
  expect(left).not.toContain(nameOf(100));
  expect(left).not.toContain(nameOf(99));
});

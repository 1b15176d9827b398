/** What comes out where no terminal is: all of it, byte for byte, and nothing else. Real relay, real agent. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fileIn, type Rig, startRig } from "../../e2e/rig.ts";
import { type Desk, openDesk } from "./desk.ts";

let rig: Rig;
let desk: Desk;
beforeAll(async () => {
  rig = await startRig();
  desk = openDesk(rig);
});
afterAll(async () => {
  desk?.close();
  await rig?.stop();
});

const bash = (command: string, ...more: string[]) =>
  desk.matrx(["call", rig.device, "Bash", `command=${command}`, ...more]);

test.each([[[]], [["--stream"]], [["--rest"]]])(
  "3,000,000 bytes arrive as 3,000,000 bytes (%j)",
  {
    timeout: 60_000,
  },
  async (way) => {
    const { code, bytes, stderr } = await bash("seq 1 500000 | head -c 3000000", ...way);
    const sent = Array.from({ length: 500_000 }, (_, i) => `${i + 1}\n`).join("");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(bytes.equals(Buffer.from(sent.slice(0, 3_000_000)))).toBe(true);
  },
);

test("bytes that are no text arrive as they are, with the exit code and without notes", {
  timeout: 60_000,
}, async () => {
  const file = fileIn(rig);
  const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 31 + (i >> 8)) % 256));
  writeFileSync(file, bytes);
  for (const way of [[], ["--stream"]]) {
    const got = await bash(`cat '${file}'; exit 7`, ...way);
    expect(got.code).toBe(7);
    expect(got.bytes.equals(bytes)).toBe(true);
  }
  const saved = join(desk.home, "saved");
  await bash(`cat '${file}'`, "--save", saved);
  expect(readFileSync(saved).equals(bytes)).toBe(true);
});

test("what a command wrote until its time was over is on stdout, the error on stderr", async () => {
  const { code, stdout, stderr } = await bash("printf 'a\\nb'; sleep 30", "timeout=500");
  expect({ code, stdout }).toEqual({ code: 124, stdout: "a\nb" });
  expect(stderr).toContain("did not end within 500 ms");
  expect(stderr).not.toContain("Output so far");
});

test("a file is read as it is with raw, and page after page without", { timeout: 60_000 }, async () => {
  const file = fileIn(rig);
  const content = `${Array.from({ length: 9000 }, (_, i) => `line ${i + 1} caf\u00e9`).join("\r\n")}`;
  writeFileSync(file, content);
  const read = (...more: string[]) => desk.matrx(["call", rig.device, "Read", `file_path=${file}`, ...more]);
  expect((await read("raw=true")).stdout).toBe(content);
  const numbered = (await read()).stdout.trimEnd().split("\n");
  expect(numbered).toHaveLength(9000);
  expect(numbered.every((line, i) => line === `${String(i + 1).padStart(6)}\tline ${i + 1} caf\u00e9`)).toBe(
    true,
  );
  expect((await read("limit=10")).stdout).toMatch(/\n\[Lines 1 to 10 /);
});

test("with --json there is one object, also of a tool that failed", async () => {
  const failed = await desk.matrx(["call", rig.device, "Read", "file_path=/nonexistent", "--json"]);
  expect(failed.code).not.toBe(0);
  expect(JSON.parse(failed.stdout)).toMatchObject({ type: "error", code: expect.any(String) });
  const streamed = await bash("echo out", "--json", "--stream");
  expect(JSON.parse(streamed.stdout)).toMatchObject({ type: "success", output: "out\n" });
});

/** `matrx cp` between this machine and a device: whole, continued after a kill, and never half a file under its name. */
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runMatrx, startMatrx } from "../agent/cli/matrx.ts";
import { callerArgs, testFolder } from "./forwarding.ts";
import { type Rig, startRig } from "./rig.ts";

const MiB = 1024 * 1024;
const MINUTE = { timeout: 60_000 };
const content = randomBytes(48 * MiB);
const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

/** A command line of one home: what it began, it continues. */
function commandLine() {
  const { home, args } = callerArgs(rig);
  return {
    start: (...words: string[]) => startMatrx(["cp", ...words, "--json", ...args], { home }),
    cp: async (...words: string[]) => {
      const { code, stdout } = await runMatrx(["cp", ...words, "--json", ...args], { home });
      const lines = stdout.trim().split("\n");
      return { code, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
    },
  };
}

const onDevice = (...names: string[]) => join(rig.folder, ...names);
const remote = (path: string) => `${rig.device}:${path}`;

/** The one file of a folder that is not complete yet, once it has so many bytes. */
async function partIn(folder: string, bytes: number): Promise<string> {
  const found = () => {
    const parts = readdirSync(folder).filter((name) => name.endsWith("part"));
    const [part] = parts.map((name) => join(folder, name)).filter((path) => statSync(path).size > bytes);
    return part;
  };
  await expect.poll(found, { interval: 1, timeout: 20_000 }).toBeDefined();
  return found() ?? "";
}

test("a file comes with its content, mode and time, and goes back to another name", MINUTE, async () => {
  const { cp } = commandLine();
  const [there, here] = [onDevice("a file.bin"), testFolder()];
  writeFileSync(there, content);
  chmodSync(there, 0o640);
  utimesSync(there, 1_700_000_000, 1_700_000_000);
  const came = await cp(remote(there), `${here}/`);
  const copy = join(here, "a file.bin");
  expect(came).toEqual({
    code: 0,
    lines: [
      {
        ...{ state: "copied", from: expect.stringContaining(there), to: copy },
        ...{ bytes: content.length, resumed: 0, sha256: hashOf(content) },
      },
      { state: "done", files: 1, bytes: content.length },
    ],
  });
  expect(hashOf(readFileSync(copy))).toBe(hashOf(content));
  expect(statSync(copy).mode & 0o777).toBe(0o640);
  expect(statSync(copy).mtimeMs).toBe(1_700_000_000_000);
  const back = onDevice("new", "name.bin");
  expect(await cp(copy, remote(back))).toMatchObject({ code: 0 });
  expect(hashOf(readFileSync(back))).toBe(hashOf(content));
  expect(statSync(back).mode & 0o777).toBe(0o640);
  expect(readdirSync(here)).toEqual(["a file.bin"]);
});

test("a download that is killed leaves no file, and goes on where it ended", MINUTE, async () => {
  const { cp, start } = commandLine();
  const [there, here] = [onDevice("killed.bin"), testFolder()];
  writeFileSync(there, content);
  const child = start(remote(there), here);
  const part = await partIn(here, 2 * MiB);
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  expect(existsSync(join(here, "killed.bin"))).toBe(false);
  const stored = statSync(part).size;
  expect(stored).toBeLessThan(content.length);
  const again = await cp(remote(there), here);
  expect(again.lines[0]).toMatchObject({ state: "copied", resumed: stored, sha256: hashOf(content) });
  expect(hashOf(readFileSync(join(here, "killed.bin")))).toBe(hashOf(content));
  expect(readdirSync(here)).toEqual(["killed.bin"]);
});

test("an upload that is killed leaves no file, and goes on where it ended", MINUTE, async () => {
  const { cp, start } = commandLine();
  const [folder, here] = [onDevice("inbox"), join(testFolder(), "large.bin")];
  mkdirSync(folder);
  writeFileSync(here, content);
  const child = start(here, remote(folder));
  const part = await partIn(folder, 2 * MiB);
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  expect(existsSync(join(folder, "large.bin"))).toBe(false);
  let again = await cp(here, remote(folder));
  // The device may still be writing what had arrived.
  if (again.code !== 0) again = await cp(here, remote(folder));
  const [{ resumed = 0 } = {}] = again.lines as { resumed?: number }[];
  expect(resumed).toBeGreaterThan(2 * MiB);
  expect(again.lines[0]).toMatchObject({ state: "copied", sha256: hashOf(content) });
  expect(hashOf(readFileSync(join(folder, "large.bin")))).toBe(hashOf(content));
  expect(existsSync(part)).toBe(false);
});

test("a part of another version is not continued", MINUTE, async () => {
  const { cp, start } = commandLine();
  const [there, here] = [onDevice("versions.bin"), testFolder()];
  writeFileSync(there, content);
  const child = start(remote(there), here);
  await partIn(here, MiB);
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  const other = randomBytes(3 * MiB);
  writeFileSync(there, other);
  expect((await cp(remote(there), here)).lines[0]).toMatchObject({ resumed: 0, sha256: hashOf(other) });
  expect(hashOf(readFileSync(join(here, "versions.bin")))).toBe(hashOf(other));
});

test("folders go and come with all that is in them, links are left out", MINUTE, async () => {
  const { cp } = commandLine();
  const here = testFolder();
  const site = join(here, "site");
  mkdirSync(join(site, "pages", "empty"), { recursive: true });
  writeFileSync(join(site, ".hidden"), "h");
  writeFileSync(join(site, "pages", "ä b.txt"), "text");
  symlinkSync("/etc/hostname", join(site, "link"));
  const gone = await cp("-r", site, remote(rig.folder));
  expect(gone.code).toBe(0);
  expect(gone.lines).toContainEqual({ state: "left_out", from: join(site, "link"), reason: "link" });
  expect(readFileSync(onDevice("site", "pages", "ä b.txt"), "utf8")).toBe("text");
  expect(readdirSync(onDevice("site")).sort()).toEqual([".hidden", "pages"]);
  expect(existsSync(onDevice("site", "pages", "empty"))).toBe(true);
  const back = join(here, "back");
  expect(await cp("-r", remote(onDevice("site")), back)).toMatchObject({ code: 0 });
  expect(readFileSync(join(back, "pages", "ä b.txt"), "utf8")).toBe("text");
  expect(existsSync(join(back, "pages", "empty"))).toBe(true);
});

test(
  "a backslash is part of a name of Linux, and what can't be copied makes the command fail",
  MINUTE,
  async () => {
    const { cp } = commandLine();
    const folder = onDevice("odd");
    mkdirSync(join(folder, "in"), { recursive: true });
    const names = ["report\\notes.txt", "x\\..\\evil"];
    for (const name of names) writeFileSync(join(folder, "in", name), name);
    const here = testFolder();
    writeFileSync(join(here, "notes.txt"), "mine");
    for (const name of names)
      expect(await cp(remote(join(folder, "in", name)), here)).toMatchObject({ code: 0 });
    expect(readdirSync(here).sort()).toEqual(["notes.txt", ...names].sort());
    expect(readFileSync(join(here, "notes.txt"), "utf8")).toBe("mine");
    expect((await cp("-r", remote(join(folder, "in")), here)).code).toBe(0);
    expect(readdirSync(join(here, "in")).sort()).toEqual([...names].sort());
    expect((await cp("-r", join(here, "in"), remote(join(folder, "back")))).code).toBe(0);
    expect(readdirSync(join(folder, "back")).sort()).toEqual([...names].sort());
    writeFileSync(Buffer.concat([Buffer.from(join(folder, "in", "caf")), Buffer.from([0xe9])]), "x");
    const { code, lines } = await cp("-r", remote(join(folder, "in")), join(here, "again"));
    expect(code).toBe(65);
    expect(lines.map(({ state }) => state).sort()).toEqual([
      "copied",
      "copied",
      "done",
      "left_out",
      undefined,
    ]);
    expect(lines.at(-1)).toMatchObject({ error: { message: "1 entry was left out; all others are copied" } });
  },
);

test("from one device to another it goes through here, and nothing of it stays here", MINUTE, async () => {
  const { cp } = commandLine();
  const [from, to] = [onDevice("from.bin"), onDevice("to.bin")];
  writeFileSync(from, content);
  const copied = await cp(remote(from), remote(to));
  expect(copied.lines[0]).toMatchObject({ state: "copied", resumed: 0, sha256: hashOf(content) });
  expect(hashOf(readFileSync(to))).toBe(hashOf(content));
});

test("an existing file keeps its mode, and stays as it is when the copy fails", MINUTE, async () => {
  const { cp } = commandLine();
  const [there, here] = [onDevice("kept.txt"), join(testFolder(), "kept.txt")];
  writeFileSync(there, "new", { mode: 0o644 });
  writeFileSync(here, "old", { mode: 0o600 });
  expect(await cp(remote(there), here)).toMatchObject({ code: 0 });
  expect([readFileSync(here, "utf8"), statSync(here).mode & 0o777]).toEqual(["new", 0o600]);
  truncateSync(there, 0);
  expect(await cp(remote(there), here)).toMatchObject({ code: 0 });
  expect(readFileSync(here, "utf8")).toBe("");
});

test.each([
  ["a file that is not there", () => [remote(onDevice("none")), "."], "NOT_FOUND"],
  ["a folder without -r", () => [remote(rig.folder), "."], "INVALID_PARAMETERS"],
  ["a target folder that is not there", () => [remote(onDevice("x")), "nowhere/"], "NOT_FOUND"],
  ["nothing on a device", () => ["a", "b"], "INVALID_PARAMETERS"],
  ["a device that is not there", () => ["nobodys-0123456789:a", "."], "UNKNOWN_DEVICE"],
  [
    "what no call may touch",
    () => [remote(join(rig.dataDir, "agent", "device.json")), "."],
    "PERMISSION_DENIED",
  ],
])("%s is said", MINUTE, async (_what, words, code) => {
  const { lines, code: exit } = await commandLine().cp(...words());
  expect(exit).not.toBe(0);
  expect(lines.at(-1)).toMatchObject({ error: { code } });
});

test("one file that fails does not stop the others, and the command fails", MINUTE, async () => {
  const { cp } = commandLine();
  const folder = onDevice("mixed");
  mkdirSync(folder);
  for (const name of ["a", "b", "c"]) writeFileSync(join(folder, name), name);
  const here = join(testFolder(), "mixed");
  mkdirSync(join(here, "mixed", "b"), { recursive: true });
  const { code, lines } = await cp("-r", remote(folder), here);
  expect(code).not.toBe(0);
  expect(lines.map(({ state }) => state)).toEqual(expect.arrayContaining(["copied", "failed", "copied"]));
  expect(readdirSync(join(here, "mixed")).sort()).toEqual(["a", "b", "c"]);
});

/** `matrx up` where it cannot write: one sentence that names the place and what to do, and no trace of the program. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { homeOf, makeHome } from "../../../agent/config/app-dirs.ts";
import { writeConfig } from "../../../agent/config/config.ts";
import { makeIdentity, writeIdentity } from "../../../agent/config/identity.ts";
import { MATRX_BIN } from "../../../scripts/matrx-bin.ts";
import { started } from "../../../scripts/start/process.ts";
import { mountDrive } from "../../helpers/drive.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { NEEDS_ROOT, needs } from "../../helpers/parts.ts";

/** A paired agent's folder; its relay is nowhere. */
function pairedIn(folder: string): string {
  const home = homeOf({ MATRX_HOME: folder });
  makeHome(home);
  writeConfig(home, { relay: "http://localhost:9", device_id: "box-0123456789", name: "box" });
  writeIdentity(home, makeIdentity());
  return folder;
}

/** What `matrx up` says on stderr, and its exit code. */
async function up(folder: string): Promise<{ said: string; code: number | null }> {
  const child = spawn(process.execPath, [MATRX_BIN, "up"], {
    env: { ...process.env, MATRX_HOME: folder, MATRX_PROTECTED: folder },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const { ended, kill } = await started(child);
  onTestFinished(kill);
  const [said, { code }] = await Promise.all([text(child.stderr), ended]);
  return { said, code };
}

async function expectSentence(folder: string, place: string): Promise<void> {
  const { said, code } = await up(folder);
  expect(code).toBe(69);
  expect(said).toMatch(
    new RegExp(`^Error: ${place}[^\\n]* cannot be [^\\n]+\\n[^\\n]*MATRX_HOME[^\\n]*\\n$`),
  );
  expect(said).not.toMatch(/^\s+at /m);
}

const aFolder = (path: string) => {
  rmSync(path, { force: true });
  mkdirSync(path);
};

test.each([
  ["journal.sqlite", aFolder],
  ["key", aFolder],
  ["jobs", (path: string) => writeFileSync(path, "")],
])("something else stands where %s belongs", async (name, put) => {
  const folder = pairedIn(temporaryFolder());
  put(join(folder, name));
  await expectSentence(folder, join(folder, name));
});

test("the disk is full", NEEDS_ROOT, async () => {
  const place = mountDrive(1);
  const folder = pairedIn(place);
  expect(() => writeFileSync(join(place, "fill"), Buffer.alloc(2 * 1024 * 1024))).toThrow("ENOSPC");
  await expectSentence(folder, folder);
});

test("the folder is read-only", NEEDS_ROOT, async () => {
  const place = mountDrive(1);
  const folder = pairedIn(place);
  execFileSync("mount", ["-o", "remount,ro", place]);
  await expectSentence(folder, folder);
});

const FULL = "/dev/full";
test(
  "what it prints goes to a full disk: it stays up",
  needs(existsSync(FULL), `${FULL} is missing`),
  async () => {
    const folder = pairedIn(temporaryFolder());
    const full = openSync(FULL, "w");
    const child = await started(
      spawn(process.execPath, [MATRX_BIN, "up"], {
        env: { ...process.env, MATRX_HOME: folder, MATRX_PROTECTED: folder },
        stdio: ["ignore", full, full],
      }),
    );
    onTestFinished(() => child.kill());
    const log = join(folder, "logs/agent.log");
    const dials = () =>
      existsSync(log) ? (readFileSync(log, "utf8").match(/RECONNECTING/g)?.length ?? 0) : 0;
    await expect.poll(dials).toBeGreaterThan(1);
    await child.stop(5000);
    expect(await child.ended).toMatchObject({ code: 0 });
  },
);

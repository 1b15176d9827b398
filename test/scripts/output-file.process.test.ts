/** What `npm start` prints into a file: a sign-in link stands there, which makes its reader the owner. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { FolderRegistry } from "../../agent/config/folder-registry.ts";
import { newProtectedFiles, ProtectedSet } from "../../agent/fs/protected-paths.ts";
import { currentPlatform } from "../../agent/platform/current.ts";
import { ROOT } from "../../scripts/tree.ts";

it.runIf(process.platform === "linux")("is closed to all tools, of other agents too", async () => {
  const home = mkdtempSync(join(tmpdir(), "matrx-output-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const log = join(home, "start.log");
  const output = openSync(log, "w");
  const module = pathToFileURL(join(ROOT, "scripts/start/registry.ts")).href;
  const program = `import { noteFolders } from ${JSON.stringify(module)}; noteFolders(${JSON.stringify(join(home, "data"))}, console.error);`;
  const started = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    env: { ...process.env, HOME: home },
    stdio: ["ignore", output, "inherit"],
  });
  closeSync(output);
  expect((await once(started, "exit"))[0]).toBe(0);

  const registry = new FolderRegistry(join(home, ".local/share/matrx/folders"));
  const closed = registry.list().flatMap(({ kind, folder }) => (kind === "data" ? [folder] : []));
  const set = new ProtectedSet({ closed, program: [] }, currentPlatform(), newProtectedFiles());
  expect(() => set.check(log, log, "look")).toThrow("belongs to Matrx itself");
  expect(() => set.check(log, log, "replace")).toThrow("belongs to Matrx itself");
  expect(() => set.check(join(home, "other.log"), "other.log", "look")).not.toThrow();
});

/** A private file is the old one or the new one, never a part of it. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../helpers/folder.ts";

test("what a full disk takes only a part of leaves the old file as it was", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "state.json");
  writeFileSync(file, "old", { mode: 0o600 });
  // 100 blocks of 1,024 bytes. Node ends at this signal, unless it is ignored.
  const limited = `trap '' XFSZ; ulimit -f 100; exec "$0" "$@"`;
  const program = join(import.meta.dirname, "writes-much.ts");
  const { stdout } = await promisify(execFile)("/bin/bash", ["-c", limited, process.execPath, program, file]);
  expect(stdout).toBe("refused\n");
  expect(readFileSync(file, "utf8")).toBe("old");
  expect(readdirSync(folder)).toEqual(["state.json"]);
});

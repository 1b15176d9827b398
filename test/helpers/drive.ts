/** A drive of a test's own. */
import { execFileSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./folder.ts";

/** Where a drive is mounted until the test's end; the test has the options `NEEDS_ROOT`. */
export function mountDrive(mebibytes = 16): string {
  const place = realpathSync(temporaryFolder());
  const size = `size=${mebibytes}m`;
  execFileSync("mount", ["-t", "tmpfs", "-o", size, "matrx-test", place]);
  onTestFinished(() => void execFileSync("umount", ["--lazy", place]));
  return place;
}

/** A drive of a test's own. */
import { execFileSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./folder.ts";
import { isThere } from "./parts.ts";

/** What a test needs that mounts something. */
export const MOUNTING = "mounting needs root's rights on Linux";

/** Where a drive is mounted until the test's end; undefined: none can be, and the test is to be skipped. */
export function mountDrive(mebibytes = 16): string | undefined {
  const place = realpathSync(temporaryFolder());
  try {
    const size = `size=${mebibytes}m`;
    execFileSync("mount", ["-t", "tmpfs", "-o", size, "matrx-test", place], { stdio: "ignore" });
  } catch {
    isThere(false, MOUNTING);
    return undefined;
  }
  onTestFinished(() => void execFileSync("umount", ["--lazy", place]));
  return place;
}

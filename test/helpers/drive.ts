/** A drive of a test's own. */
import { execFileSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./folder.ts";
import { isThere } from "./parts.ts";

/** Where a drive of 16 MiB is mounted until the test's end; undefined: none can be, and the test is to be skipped. */
export function mountDrive(): string | undefined {
  const place = realpathSync(temporaryFolder());
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=16m", "matrx-test", place], { stdio: "ignore" });
  } catch {
    isThere(false, "mounting a drive needs root's rights on Linux");
    return undefined;
  }
  onTestFinished(() => void execFileSync("umount", ["--lazy", place]));
  return place;
}

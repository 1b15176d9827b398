/** Temporary folders of tests. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), "matrx-test-"));
}

export function removeFolder(folder: string): void {
  const options = { recursive: true, force: true, maxRetries: 3 };
  try {
    rmSync(folder, options);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EACCES")) throw error;
    // Tests take rights away to see what is refused.
    execFileSync("chmod", ["-R", "u+rwX", folder]);
    rmSync(folder, options);
  }
}

/** A folder that is gone when the test is over; call it in a test. */
export function temporaryFolder(): string {
  const folder = makeFolder();
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** The scripts that shells read when a terminal opens, while other terminals open. */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeShellScripts } from "../../../agent/terminals/shell.ts";
import { SHELL_SCRIPTS } from "../../../agent/terminals/shell-scripts.ts";

function writtenFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "matrx-shells-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeShellScripts(folder);
  return folder;
}

test("scripts of another version are replaced, and a shell that has opened one reads it to its end", () => {
  const folder = writtenFolder();
  const script = join(folder, "bash.sh");
  writeFileSync(script, "older");
  const opened = openSync(script, "r");
  onTestFinished(() => closeSync(opened));
  writeShellScripts(folder);
  expect(readFileSync(opened, "utf8")).toBe("older");
  expect(readFileSync(script, "utf8")).toBe(SHELL_SCRIPTS["bash.sh"]);
});

test("scripts that are as they should be stay untouched", () => {
  const folder = writtenFolder();
  const states = () =>
    Object.keys(SHELL_SCRIPTS).map((name) => statSync(join(folder, name), { bigint: true }).ctimeNs);
  const before = states();
  writeShellScripts(folder);
  expect(states()).toEqual(before);
});

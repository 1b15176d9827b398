/** A second way to a file or folder, by a mount, until the end of the block; the test has the options `NEEDS_ROOT`. */
import { execFileSync } from "node:child_process";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export function bindMount(from: string, to: string): Disposable {
  mkdirSync(dirname(to), { recursive: true });
  if (statSync(from).isDirectory()) mkdirSync(to, { recursive: true });
  else writeFileSync(to, "");
  return mounted(["--bind", from, to], to);
}

/** A second /proc. */
export function mountProc(to: string): Disposable {
  mkdirSync(to);
  return mounted(["-t", "proc", "proc", to], to);
}

function mounted(args: readonly string[], to: string): Disposable {
  execFileSync("mount", args);
  return { [Symbol.dispose]: () => void execFileSync("umount", ["--lazy", to]) };
}

/** A second way to a file or folder, by a mount: until the end of the block that it is used in. */
import { execFileSync } from "node:child_process";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { MOUNTING } from "./drive.ts";
import { isThere } from "./parts.ts";

/** Undefined: this machine, or its user, cannot; the test is to be skipped. */
export function bindMount(from: string, to: string): Disposable | undefined {
  mkdirSync(dirname(to), { recursive: true });
  if (statSync(from).isDirectory()) mkdirSync(to, { recursive: true });
  else writeFileSync(to, "");
  return mounted(["--bind", from, to], to);
}

/** A second /proc. */
export function mountProc(to: string): Disposable | undefined {
  mkdirSync(to);
  return mounted(["-t", "proc", "proc", to], to);
}

function mounted(args: readonly string[], to: string): Disposable | undefined {
  try {
    execFileSync("mount", args, { stdio: "ignore" });
  } catch {
    isThere(false, MOUNTING);
    return undefined;
  }
  return { [Symbol.dispose]: () => void execFileSync("umount", ["--lazy", to]) };
}

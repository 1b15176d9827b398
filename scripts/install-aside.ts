/** Packages that only one command needs: installed beside ours, where `npm ci` clears up, once for each state of their list. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Exit code of a command whose packages cannot be installed: EX_UNAVAILABLE of sysexits.h. */
export const UNAVAILABLE = 69;

interface Aside {
  /** The folder with their package.json and package-lock.json. */
  readonly from: string;
  readonly into: string;
  /** How large they are. */
  readonly megabytes: number;
}

/** Without scripts: nothing that they build or fetch is used. Returns whether they are there; npm says why not. */
export async function installAside({ from, into, megabytes }: Aside): Promise<boolean> {
  const mark = join(into, "installed");
  const lock = readFileSync(join(from, "package-lock.json"), "utf8");
  if (existsSync(mark) && readFileSync(mark, "utf8") === lock) return true;
  console.error(`Installing packages into ${into} (about ${megabytes} MB) ...`);
  mkdirSync(into, { recursive: true });
  rmSync(mark, { force: true });
  for (const file of ["package.json", "package-lock.json"]) copyFileSync(join(from, file), join(into, file));
  const isInstalled = (await npmCi(into)) === 0;
  if (isInstalled) writeFileSync(mark, lock);
  else console.error(`The packages of ${from} cannot be installed: npm says why above`);
  return isInstalled;
}

async function npmCi(cwd: string): Promise<number> {
  const ci = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  const npm = process.env.npm_execpath;
  const child = npm?.endsWith(".js")
    ? spawn(process.execPath, [npm, ...ci], { cwd, stdio: "inherit" })
    : spawn("npm", ci, { cwd, stdio: "inherit", shell: process.platform === "win32" });
  const [code] = await once(child, "close");
  return code ?? 1;
}

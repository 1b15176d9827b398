/** A program from PyPI, in an environment of its own: found, or installed once where `npm ci` clears up. */
import { execFile } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestOptions } from "vitest";
import { ROOT } from "../../scripts/tree.ts";
import { needs } from "./parts.ts";

const run = promisify(execFile);
const INSTALL_WITHIN = 180_000;

export interface PythonProgram {
  /** The program's file. */
  readonly program: string;
  /** The Python that has its packages. */
  readonly python: string;
  /** Options of the tests with it. */
  readonly options: TestOptions;
}

/** Installs it unless that was done before. Without Python or PyPI its tests are skipped; in CI they fail. */
export async function pythonProgram(
  name: string,
  version: string,
  wanted: readonly string[] = [`${name}==${version}`],
): Promise<PythonProgram> {
  const environment = join(ROOT, `node_modules/.cache/${name}-${version}`);
  const programs = join(environment, process.platform === "win32" ? "Scripts" : "bin");
  const found = { program: join(programs, name), python: join(programs, "python"), options: {} };
  const installed = join(environment, "installed");
  if (existsSync(installed)) return found;
  try {
    await install(environment, found.python, wanted);
    writeFileSync(installed, version);
    return found;
  } catch (cause) {
    rmSync(environment, { recursive: true, force: true });
    const why = cause instanceof Error ? cause.message.trim().split("\n").at(-1) : String(cause);
    const what = `${name} ${version} takes Python 3 with venv and pip, and PyPI (${why})`;
    return { ...found, options: needs(false, what) };
  }
}

async function install(environment: string, python: string, wanted: readonly string[]): Promise<void> {
  const system = process.platform === "win32" ? "python" : "python3";
  await run(system, ["-m", "venv", "--clear", environment], { timeout: INSTALL_WITHIN });
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"];
  await run(python, [...pip, ...wanted], { timeout: INSTALL_WITHIN });
}

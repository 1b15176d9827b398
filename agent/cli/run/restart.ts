/**
 * Restarts this program as it now is on disk, in the same terminal or service and with the same arguments. Uses `execve`,
 * so that a supervisor does not see the process end. Windows does not have that (written from documents, not run): there a
 * child takes over, and this process only waits for it.
 */
import { type SpawnOptions, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Does not return. Throws if the program cannot be started. `execve` is null where there is none. */
export async function replaceProcess(execve = process.execve ?? null): Promise<never> {
  const [program, script, ...rest] = process.argv as [string, string, ...string[]];
  const args = [...process.execArgv, script, ...rest];
  // Checked first, because a failed `execve` ends the process.
  for (const [file, mode] of [
    [program, constants.X_OK],
    [script, constants.R_OK],
  ] as const)
    accessSync(file, mode);
  if (execve) execve.call(process, program, [program, ...args], process.env);
  return await takenOver(program, args);
}

async function takenOver(program: string, args: string[]): Promise<never> {
  const options: SpawnOptions = { stdio: "inherit", windowsHide: true };
  const child = spawn(program, args, options);
  for (const signal of SIGNALS) process.removeAllListeners(signal).on(signal, () => child.kill(signal));
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once("error", reject).once("exit", (...end) => resolve(end));
  });
  for (const name of SIGNALS) process.removeAllListeners(name);
  if (signal) process.kill(process.pid, signal);
  process.exit(code ?? 1);
}

/** `matrx up` as a process of its own, followed by the states that it prints. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { MATRX_BIN } from "../../scripts/matrx-bin.ts";
import { agentEnvironment } from "../../scripts/start/agent.ts";
import { type Child, started } from "../../scripts/start/process.ts";

export interface Agent {
  readonly child: Child;
  /** Client states of the device document, in order. */
  readonly states: string[];
  /** All that it wrote to stderr. */
  errors(): string;
  /** Resolves when it has registered once more than `times` before. */
  registered(times?: number): Promise<void>;
}

const PATIENCE = 30_000;

const UP = [MATRX_BIN, "up", "--json", "--log-level", "error"];

/** Starts the agent that was paired in this data folder; `program` may be another that prints its states alike. */
export async function startAgent(
  dataDir: string,
  env: NodeJS.ProcessEnv = {},
  program: readonly string[] = UP,
): Promise<Agent> {
  const up = spawn(process.execPath, program, {
    cwd: dataDir,
    env: { ...agentEnvironment(dataDir), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const child = await started(up);
  const states: string[] = [];
  let errors = "";
  const listeners = new Set<() => void>();
  up.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  createInterface({ input: up.stdout }).on("line", (line) => {
    const { state } = JSON.parse(line) as { state?: string };
    if (state) states.push(state);
    for (const listener of listeners) listener();
  });
  const registrations = () => states.filter((state) => state === "REGISTERED").length;
  const registered = (times = 0) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (registrations() <= times) return;
        clearTimeout(timer);
        listeners.delete(look);
        resolve();
      };
      const timer = setTimeout(() => reject(new Error(`not registered: ${states} ${errors}`)), PATIENCE);
      listeners.add(look);
      look();
    });
  return { child, states, errors: () => errors, registered };
}

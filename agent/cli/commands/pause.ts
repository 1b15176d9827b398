/** `matrx pause` and `matrx resume`: close this machine to callers, and open it again. */
import { callerError } from "@matrx/shared/errors.ts";
import type { Command } from "commander";
import type * as z from "zod";
import type { Home } from "../../config/app-dirs.ts";
import { PauseFile } from "../../config/pause-file.ts";
import { pauseResultSchema, stateSchema } from "../../control/pause-routes.ts";
import { isInJob } from "../../platform/environment.ts";
import { agentHome } from "../agent-home.ts";
import { ControlClient } from "../client/control-client.ts";
import { type CallerOptions, withCallerOptions } from "../client/credentials.ts";
import { note, printJson } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { asTyped } from "../program-name.ts";
import { pauseEverywhere, resumeEverywhere } from "./pause-everywhere.ts";

export function addPause(program: Command): void {
  withCallerOptions(program.command("pause"))
    .description("close this machine to callers at once, and stop what they run")
    .option("--ai", "only to AI grants")
    .option("--everywhere", "all your devices, to AI grants, by way of the relay")
    .addHelpText(
      "after",
      `
It stays closed, also after a restart, until somebody runs matrx resume on this machine. With --everywhere, which takes a
login (matrx login), until a signed-in person resumes; own script tokens go on.

Examples:
  matrx pause
  matrx pause --ai
  matrx pause --everywhere`,
    )
    .action(pause);
}

export function addResume(program: Command): void {
  withCallerOptions(program.command("resume"))
    .description("open this machine to callers again, after matrx pause")
    .option("--everywhere", "let AI grants act again on all your devices, after matrx pause --everywhere")
    .addHelpText("after", "\nExamples:\n  matrx resume\n  matrx resume --everywhere")
    .action(resume);
}

interface PauseOptions extends CallerOptions {
  ai?: boolean;
  everywhere?: boolean;
  json?: boolean;
}

async function pause(options: PauseOptions): Promise<void> {
  if (options.everywhere) return await pauseEverywhere(options);
  const { ai = false, json } = options;
  const home = agentHome();
  const file = new PauseFile(home);
  const who = ai ? "ai" : "everyone";
  // Written first: even an agent that does not answer will read it.
  const agents = await withFile(
    () => file.pause(who),
    () => withProgress("Pausing", askAll(home, "/pause", pauseResultSchema, { who })),
  );
  const paused = agents?.some((agent) => agent.paused === "everyone") ? "everyone" : (file.current ?? who);
  const stopped = agents && { calls: sum(agents, "calls"), jobs: sum(agents, "jobs") };
  if (json) return printJson({ paused, stopped: stopped ?? null, running: isRunning(agents) });
  console.log(`Paused: this machine is closed to ${paused === "everyone" ? "all callers" : "AI grants"}.`);
  if (ai && paused === "everyone") note("It was closed to all callers before, and stays so.");
  if (stopped && stopped.calls + stopped.jobs > 0)
    console.log(`Stopped ${count(stopped.calls, "call")} and ${count(stopped.jobs, "background command")}.`);
  if (!agents) note(untold(home));
  else if (agents.length === 0)
    note("No agent is running here. The next one starts paused, and stops what was left running.");
  note(asTyped("To open it again, run here: matrx resume"));
}

async function resume(options: PauseOptions): Promise<void> {
  const { everywhere, json } = options;
  if (isInJob(process.env)) {
    throw callerError("PERMISSION_DENIED", "This command runs for a caller, and callers cannot end a pause", {
      hint: "Run it in a terminal at the machine",
    });
  }
  if (everywhere) return await resumeEverywhere(options);
  const home = agentHome();
  const file = new PauseFile(home);
  const wasPaused = file.current !== undefined;
  const agents = await withFile(
    () => file.resume(),
    () => askAll(home, "/resume", stateSchema),
  );
  if (json) return printJson({ paused: null, running: isRunning(agents) });
  console.log(wasPaused ? "This machine is open to callers again." : "This machine is not paused.");
  if (wasPaused && !agents) note(untold(home));
}

/** Changes the file, and asks the agents even if that fails. */
async function withFile<Result>(change: () => void, ask: () => Promise<Result>): Promise<Result> {
  try {
    change();
  } catch (error) {
    await ask();
    throw error;
  }
  return await ask();
}

/** Asks all agents that run; undefined if none can be reached. Throws MatrxError if one fails. */
async function askAll<Schema extends z.ZodType>(
  home: Home,
  path: string,
  schema: Schema,
  body?: unknown,
): Promise<z.infer<Schema>[] | undefined> {
  if (!ControlClient.canReach(home)) return undefined;
  const asked = ControlClient.all(home).map((client) => client.ask("POST", path, schema, body));
  const answers = await Promise.all(asked);
  return answers.filter((answer) => answer !== undefined);
}

/** Null: not known. */
function isRunning(agents: readonly unknown[] | undefined): boolean | null {
  return agents ? agents.length > 0 : null;
}

/** A running agent looks at the file by itself. */
function untold({ controlFolder }: Home): string {
  return `The path of ${controlFolder} is too long for a socket, so a running agent could not be told. It notices within a second.`;
}

function sum(agents: readonly z.infer<typeof pauseResultSchema>[], what: "calls" | "jobs"): number {
  return agents.reduce((total, { stopped }) => total + stopped[what], 0);
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

/** `matrx approvals`: lists calls that wait for a person, shows what they would do, and allows or denies them. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Decision, reachSchema } from "@matrx/shared/approval.ts";
import { callerError } from "@matrx/shared/errors.ts";
import { type Command, Option } from "commander";
import { isInJob } from "../../platform/environment.ts";
import { agentHome } from "../agent-home.ts";
import { type ApprovalDesk, approvalsAtRelay, approvalsHere, type Waiting } from "../client/approvals.ts";
import { type CallerOptions, callerOf, withCallerOptions } from "../client/credentials.ts";
import { note, oneLine, printJson, printJsonLine, printTable } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { questionLines } from "../output/question-lines.ts";
import { stopSignal } from "../run/stop-signal.ts";

interface ApprovalsOptions extends CallerOptions {
  here?: boolean;
  json?: boolean;
}

/** How often the list is asked for with `--watch`, in milliseconds. */
const WATCH_EVERY = 2000;

const EXAMPLES = `
Examples:
  matrx approvals
  matrx approvals show approval_4k7m2x9qpatr6w1z
  matrx approvals allow approval_4k7m2x9qpatr6w1z --for hour
  matrx approvals deny approval_4k7m2x9qpatr6w1z --note "use make check"
  matrx approvals --here`;

export function addApprovals(program: Command): void {
  const approvals = withOptions(
    program.command("approvals").description("list calls that wait for you, and allow or deny them"),
  )
    .option("--watch", "also show new ones as they come; Ctrl-C stops")
    .addHelpText(
      "after",
      `
With --here: those that a policy lets only somebody at this machine decide on. The others require a login (matrx login).
${EXAMPLES}`,
    )
    .action(list);
  withOptions(approvals.command("show").description("show exactly what a call would do"))
    .argument("<approval>", "its id, or the beginning of it")
    .addHelpText("after", EXAMPLES)
    .action(show);
  withOptions(approvals.command("allow").description("let a call run as it was shown"))
    .argument("<approval>", "its id, or the beginning of it")
    .addOption(
      new Option(
        "--for <reach>",
        "this call, the same one for an hour, or this tool for its token from now on",
      )
        .choices(reachSchema.options)
        .default("once"),
    )
    .addHelpText("after", EXAMPLES)
    .action(allow);
  withOptions(approvals.command("deny").description("refuse a call"))
    .argument("<approval>", "its id, or the beginning of it")
    .option("--note <text>", "a word to whoever made the call")
    .addHelpText("after", EXAMPLES)
    .action(deny);
}

function withOptions(command: Command): Command {
  return withCallerOptions(command).option("--here", "of this machine, in place of the relay's");
}

function deskOf(options: ApprovalsOptions): ApprovalDesk {
  return options.here ? approvalsHere(agentHome()) : approvalsAtRelay(callerOf(options));
}

async function list(options: ApprovalsOptions & { watch?: boolean }): Promise<void> {
  const desk = deskOf(options);
  if (options.watch) return await watch(desk, options);
  const approvals = await withProgress("Asking", desk.list());
  if (options.json) return printJson({ approvals });
  if (approvals.length === 0) return console.log("No call waits for a decision.");
  printTable(["CALL", "DEVICE", "BY", "LEFT", "ID"], approvals.map(rowOf));
  note("matrx approvals show ID shows exactly what a call would do.");
}

function rowOf({ id, device, by, summary, expires, atMachine }: Waiting): string[] {
  const where = atMachine && device !== "here" ? `${device} (only there)` : device;
  return [shortened(summary, 60), where, by, minutesLeft(expires), id];
}

function shortened(text: string, chars: number): string {
  return text.length > chars ? `${text.slice(0, chars - 1).toWellFormed()}…` : text;
}

function minutesLeft(expires: string): string {
  return `${Math.max(0, Math.ceil((Date.parse(expires) - Date.now()) / 60_000))} min`;
}

async function watch(desk: ApprovalDesk, { json }: ApprovalsOptions): Promise<void> {
  const stop = stopSignal();
  const seen = new Set<string>();
  note("Waiting for calls that ask. Ctrl-C stops.");
  while (!stop.aborted) {
    for (const waiting of await desk.list()) {
      if (seen.has(waiting.id)) continue;
      seen.add(waiting.id);
      if (json) printJsonLine(waiting);
      else console.log(`${oneLine(waiting.id)}  ${oneLine(waiting.summary)}`);
    }
    await sleep(WATCH_EVERY, undefined, { signal: stop }).catch(() => undefined);
  }
}

async function show(id: string, options: ApprovalsOptions): Promise<void> {
  const { question, ...waiting } = await withProgress("Asking", deskOf(options).find(id));
  if (options.json) return printJson({ ...waiting, question });
  for (const line of questionLines(question)) console.log(line);
  note(`From ${oneLine(waiting.by)}, for ${oneLine(waiting.device)}; ${minutesLeft(waiting.expires)} left.`);
}

async function allow(
  id: string,
  { for: reach, ...options }: ApprovalsOptions & { for: NonNullable<Decision["for"]> },
): Promise<void> {
  if (options.here && isInJob(process.env)) throw inJobError();
  if (options.here && reach !== "once") throw onlyOnceError();
  const waiting = await decide(id, { decision: "allow", for: reach }, options);
  if (options.json) return printJson({ id: waiting.id, decision: "allow", for: reach });
  console.log(`Allowed: ${oneLine(waiting.summary)}`);
}

async function deny(
  id: string,
  { note: word, ...options }: ApprovalsOptions & { note?: string },
): Promise<void> {
  const waiting = await decide(id, { decision: "deny", ...(word !== undefined && { note: word }) }, options);
  if (options.json) return printJson({ id: waiting.id, decision: "deny" });
  console.log(`Denied: ${oneLine(waiting.summary)}`);
}

async function decide(id: string, decision: Decision, options: ApprovalsOptions): Promise<Waiting> {
  const desk = deskOf(options);
  return await withProgress("Deciding", findAndDecide(desk, id, decision));
}

async function findAndDecide(desk: ApprovalDesk, id: string, decision: Decision): Promise<Waiting> {
  const waiting = await desk.find(id);
  await desk.decide(waiting, decision);
  return waiting;
}

function inJobError() {
  return callerError(
    "PERMISSION_DENIED",
    "This command runs for a caller, and callers cannot allow their own calls",
    {
      hint: "Run it in a terminal at the machine",
    },
  );
}

function onlyOnceError() {
  return callerError("INVALID_PARAMETERS", "At the machine, a call is allowed once", {
    hint: "Leave out --for; to stop asking, change ask in the device's policy.json",
  });
}

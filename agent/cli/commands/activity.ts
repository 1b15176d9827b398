/** `matrx activity`: shows what callers do on this machine, as it happens. */
import { setTimeout as sleep } from "node:timers/promises";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import type { Command } from "commander";
import { type ActivityEntry, activityEntrySchema } from "../../core/activity.ts";
import { agentHome } from "../agent-home.ts";
import { ControlClient } from "../client/control-client.ts";
import { parsedJson } from "../client/json.ts";
import { activityLines } from "../output/activity-line.ts";
import { usageError } from "../output/failure.ts";
import { note, printJsonLine } from "../output/print.ts";
import { stopSignal } from "../run/stop-signal.ts";

/** The agent keeps no more. */
const LINES_MAX = 200;
/** How often to look for an agent that has ended, in milliseconds. */
const AGAIN_AFTER = 1000;

interface ActivityOptions {
  lines: string;
  follow: boolean;
  json?: boolean;
}

export function addActivity(program: Command): void {
  program
    .command("activity")
    .description("show live what callers do on this machine")
    .option("-n, --lines <number>", "how many earlier entries to show first", "20")
    .option("--no-follow", "show earlier entries only")
    .option("--json", "print one JSON object per line")
    .addHelpText(
      "after",
      `
Parameters and results are shortened, and what looks like a secret is masked.

Examples:
  matrx activity
  matrx activity -n 200 --no-follow
  matrx activity --json | jq 'select(.type == "refused")'`,
    )
    .action(activity);
}

async function activity({ lines, follow, json }: ActivityOptions): Promise<void> {
  const most = Number(lines);
  if (!Number.isInteger(most) || most < 0 || most > LINES_MAX) {
    throw usageError(
      `--lines: "${lines}" is not a number of entries`,
      `Use a whole number from 0 to ${LINES_MAX}: an agent keeps no more`,
    );
  }
  const stop = stopSignal();
  const show = (entry: ActivityEntry) => {
    if (json) return printJsonLine(entry);
    for (const line of activityLines(entry)) console.log(line);
  };
  const watches = ControlClient.all(agentHome()).map((client) => new Watch(client, stop, show));
  const opened = await Promise.all(watches.map((watch) => watch.open(most, follow)));
  if (!opened.includes(true)) throw noAgentError();
  if (follow) note("Waiting for calls. Ctrl-C stops.");
  await Promise.all(watches.map((watch) => (follow ? watch.follow() : watch.show())));
}

/** What one agent does, and the next one in its place. */
class Watch {
  readonly #client: ControlClient;
  readonly #stop: AbortSignal;
  readonly #print: (entry: ActivityEntry) => void;
  #lines: AsyncIterable<string> | undefined;
  /** When the last entry happened that was shown, as ISO 8601. */
  #shownAt = "";

  constructor(client: ControlClient, stop: AbortSignal, print: (entry: ActivityEntry) => void) {
    this.#client = client;
    this.#stop = stop;
    this.#print = print;
  }

  /** Asks for the last entries; returns whether an agent runs. Throws MatrxError. */
  async open(last: number, follow: boolean): Promise<boolean> {
    const query = new URLSearchParams({ last: String(last), follow: String(follow) });
    this.#lines = await this.#client.lines(`/activity?${query}`, this.#stop);
    return this.#lines !== undefined;
  }

  /** Shows what was opened, to its end. Entries of a newer agent that this program does not know are left out. */
  async show(): Promise<void> {
    let last = this.#shownAt;
    for await (const line of this.#lines ?? []) {
      const entry = activityEntrySchema.safeParse(parsedJson(line)).data;
      if (!entry || entry.at <= this.#shownAt) continue;
      this.#print(entry);
      last = entry.at;
    }
    this.#shownAt = last;
  }

  /** Shows new entries until the command is stopped, whether agents come or go. */
  async follow(): Promise<void> {
    while (!this.#stop.aborted) {
      if (this.#lines) await this.show();
      if (this.#stop.aborted) return;
      if (this.#lines) note("The agent has ended. Waiting for the next one ...");
      await sleep(AGAIN_AFTER, undefined, { signal: this.#stop }).catch(() => undefined);
      await this.open(LINES_MAX, true).catch(() => undefined);
    }
  }
}

function noAgentError(): MatrxError {
  return agentError("UNAVAILABLE", "No agent is running on this machine", { hint: "Start it: matrx up" });
}

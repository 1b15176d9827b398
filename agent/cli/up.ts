/** `matrx up`: connects this machine, until Ctrl-C. */
import { MatrxError } from "@matrx/shared/errors.ts";
import type { Command } from "commander";
import { runAgent } from "../agent.ts";
import { requireConfig } from "../config.ts";
import { homeOf, makeHome } from "../home.ts";
import { readIdentity } from "../identity.ts";
import { makeLog } from "../log.ts";
import { openToolbox } from "../toolbox.ts";
import { logFileOption, logLevelOption, logTo } from "./log-options.ts";
import { printJsonLine } from "./print.ts";
import { stopSignal } from "./stop-signal.ts";

interface UpOptions {
  logFile?: string;
  logLevel?: string;
  json?: boolean;
}

export function addUp(program: Command): void {
  program
    .command("up")
    .description("connect this machine, until Ctrl-C")
    .addOption(logFileOption)
    .addOption(logLevelOption)
    .option("--json", "print each change of the connection as a JSON line")
    .addHelpText("after", "\nExamples:\n  matrx up\n  matrx up --log-file ~/matrx.log")
    .action(up);
}

async function up(options: UpOptions): Promise<void> {
  const stop = stopSignal();
  const home = homeOf();
  makeHome(home);
  for (;;) {
    const config = requireConfig(home);
    const identity = readIdentity(home);
    const log = makeLog(logTo(home.logFile, { ...options, logLevel: options.logLevel ?? config.log_level }));
    const toolbox = () => openToolbox({ home, jobs: home.jobs, log });
    const onState = options.json
      ? (state: string) => printJsonLine({ state, device_id: config.device_id, relay: config.relay })
      : undefined;
    const end = await runAgent({ home, config, identity, toolbox, log, onState }, stop);
    if (end instanceof MatrxError) throw end;
    if (end !== "restart") return log.info("stopped");
  }
}

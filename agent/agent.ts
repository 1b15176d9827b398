/** The agent: one core, which runs this machine's tools, and the surfaces that hand it calls: relay and local server. */
import { once } from "node:events";
import type { SystemCommand } from "@matrx/shared/device-frames.ts";
import type { MatrxError } from "@matrx/shared/errors.ts";
import type { Home } from "./config/app-dirs.ts";
import type { Config } from "./config/config.ts";
import { PolicyFile } from "./config/policy-file.ts";
import { openAgentJournal } from "./core/agent-journal.ts";
import { Dispatcher } from "./core/dispatcher.ts";
import { isLocalGrant } from "./core/journal-entry.ts";
import { LocalCalls } from "./local/local-calls.ts";
import { type LocalServerOptions, startLocalServer } from "./local/server.ts";
import type { LogOptions } from "./log/log.ts";
import { monitorSettings } from "./monitors/settings.ts";
import { startMonitors } from "./monitors/start.ts";
import { Relay, type RelayOptions } from "./relay/relay.ts";
import { openReporting } from "./reporting.ts";
import { openToolbox } from "./toolbox.ts";

export interface AgentOptions {
  readonly home: Home;
  /** Its id at the relay; `localhost` without one. */
  readonly device: string;
  readonly log: LogOptions;
  readonly monitors: Config["monitors"];
  /** Absent: no relay is dialled. */
  readonly relay?: RelayOptions | undefined;
  /** Absent: the tools are not served locally. */
  readonly local?: LocalOptions | undefined;
  readonly windDownMs?: number | undefined;
}

export interface LocalOptions extends Pick<LocalServerOptions, "host" | "port" | "token" | "allowedOrigins"> {
  /** Hears where it is served. */
  readonly onListening: (url: string) => void;
}

/** What an agent is made of, in the order in which it is opened; tests make it of other things. */
export interface AgentParts {
  readonly openReporting: typeof openReporting;
  readonly openToolbox: typeof openToolbox;
  readonly startMonitors: typeof startMonitors;
}

const PARTS: AgentParts = { openReporting, openToolbox, startMonitors };

/** Why the agent ended: `stopped` by a signal or the owner's `shutdown`, `restart` asked for, or the relay's final no. */
export type AgentEnd = "stopped" | "restart" | MatrxError;

/**
 * Starts all that the options name, and runs until the signal, a command of the owner, or the relay's final no. Calls that
 * run then are stopped first; what was started ends in the opposite order. Throws MatrxError when something cannot start.
 */
export async function startAgent(options: AgentOptions, stop: AbortSignal, parts = PARTS): Promise<AgentEnd> {
  const { home, device, relay, local, windDownMs } = options;
  await using services = new AsyncDisposableStack();

  const conditionsFile = relay && home.conditionsFile;
  const reporting = services.adopt(
    parts.openReporting({ device, log: options.log, ...(conditionsFile && { conditionsFile }) }),
    ({ close }) => close(),
  );
  const { log, hub, problems } = reporting;
  // Before the tools: its lock keeps a second agent away from the jobs of the first.
  const { journal } = services.adopt(
    openAgentJournal({ ...home, connects: relay !== undefined, serves: local !== undefined, log }),
    ({ close }) => close(),
  );
  const toolbox = services.adopt(
    await parts.openToolbox({ home, jobs: relay ? home.jobs : home.localJobs, log }),
    ({ close }) => close(),
  );
  const { tools, sessions } = toolbox;
  const policy = new PolicyFile(home);
  policy.warn(tools, log);
  const dispatcher = new Dispatcher({
    ...{ device, policy, journal, log, tools, sessions },
    ...(windDownMs !== undefined && { windDownMs }),
  });
  const resumed = dispatcher.recover();
  const stopCalls = () => dispatcher.stopAll("The agent was stopped");
  // Those that came while the surfaces were closing.
  services.defer(stopCalls);

  const leave = new AbortController();
  let end: AgentEnd = "stopped";
  /** Stops what runs while the surfaces can still carry the outcomes, then leaves. */
  const finish = async () => {
    if (dispatcher.runningCalls > 0)
      log.info({ calls: dispatcher.runningCalls }, "stopping the calls that run");
    await stopCalls();
    leave.abort();
  };
  const obey = (command: SystemCommand["command"], reason: string | undefined) => {
    log.info({ command, reason }, "the relay sent a command");
    if (command === "update_permissions") return policy.reload();
    if (command === "restart_client") end = "restart";
    void finish();
  };
  const onStop = () => void finish();
  stop.addEventListener("abort", onStop, { once: true });
  services.defer(() => stop.removeEventListener("abort", onStop));
  if (stop.aborted) leave.abort();

  if (local) {
    const calls = new LocalCalls({ device, tools, policy, dispatcher });
    const server = await startLocalServer({ ...local, calls, hub, log });
    services.defer(() => server.close());
    local.onListening(server.url);
  }
  const settings = monitorSettings(options.monitors);
  const { protectedPaths } = toolbox;
  services.adopt(await parts.startMonitors({ settings, hub, problems, protectedPaths }), ({ close }) =>
    close(),
  );
  const connection =
    relay &&
    services.adopt(
      await Relay.open(relay, {
        ...{ tools, dispatcher, journal, hub, log },
        resumed: resumed.filter(({ grant }) => !isLocalGrant(grant)),
        onSessionEnd: toolbox.endGrant,
        onSystemCommand: obey,
      }),
      (open) => open.close(),
    );
  services.defer(stopCalls);

  const refusal = connection ? await connection.connect(leave.signal) : await left(leave.signal);
  if (!refusal && end === "stopped") log.info("stopped");
  return refusal ?? end;
}

async function left(signal: AbortSignal): Promise<undefined> {
  if (!signal.aborted) await once(signal, "abort");
}

/** The agent: one core that runs this machine's tools, and the surfaces that hand it calls: relay and local server. */
import { once } from "node:events";
import { EVERY_GRANT } from "@matrx/shared/device-frames.ts";
import type { MatrxError } from "@matrx/shared/errors.ts";
import { ChosenTools, enabledInMemory } from "@matrx/shared/mcp/enable-tools.ts";
import { OneDevice } from "@matrx/shared/mcp/host.ts";
import type { Logger } from "pino";
import type { Home } from "./config/app-dirs.ts";
import type { Config } from "./config/config.ts";
import { KeptHeads } from "./config/kept-heads.ts";
import { PauseFile } from "./config/pause-file.ts";
import { PolicyFile } from "./config/policy-file.ts";
import { openControl } from "./control/control.ts";
import { endWhatPolicyEnds } from "./control/narrowed-policy.ts";
import { Activity } from "./core/activity.ts";
import { openAgentJournal } from "./core/agent-journal.ts";
import { Dispatcher } from "./core/dispatcher.ts";
import { isLocalGrant } from "./core/journal-entry.ts";
import { LocalCalls, type LocalCallsOptions } from "./local/local-calls.ts";
import { type LocalServerOptions, startLocalServer } from "./local/server.ts";
import type { LogOptions } from "./log/log.ts";
import { LocalDevice } from "./mcp/local-device.ts";
import { serveMcp } from "./mcp/stdio.ts";
import { MountChanges } from "./monitors/mount-changed.ts";
import { monitorSettings } from "./monitors/settings.ts";
import { startMonitors } from "./monitors/start.ts";
import { Mounts } from "./mounts/mounts.ts";
import { makePrivateFolder } from "./platform/private-file.ts";
import { forgetListening, noteListening } from "./ports/own-ports.ts";
import { Relay, type RelayOptions } from "./relay/relay.ts";
import { openReporting } from "./reporting.ts";
import { openToolbox } from "./toolbox.ts";
import "./whole.ts";

export interface AgentOptions {
  readonly home: Home;
  /** Its id at the relay; `localhost` without one. */
  readonly device: string;
  readonly log: LogOptions;
  readonly monitors: Config["monitors"];
  /** MCP servers to mount. */
  readonly mcpServers?: Config["mcpServers"];
  /** Absent: does not connect to a relay. */
  readonly relay?: RelayOptions | undefined;
  /** Absent: does not serve local callers. */
  readonly local?: LocalOptions | undefined;
  /** What the MCP client that started this program may do; absent: none did. */
  readonly mcp?: LocalCallsOptions["grant"] | undefined;
  readonly windDownMs?: number | undefined;
}

export interface LocalOptions extends Pick<LocalServerOptions, "host" | "port" | "token" | "allowedOrigins"> {
  /** Called with the URL of the local server. */
  readonly onListening: (url: string) => void;
}

/** The parts of an agent, in the order in which they are opened; tests substitute their own. */
export interface AgentParts {
  readonly openReporting: typeof openReporting;
  readonly openToolbox: typeof openToolbox;
  readonly startMonitors: typeof startMonitors;
}

const PARTS: AgentParts = { openReporting, openToolbox, startMonitors };

/** Why the agent ended: `stopped` by a signal or the owner's `shutdown`, `restart` requested, or refused by the relay for good. */
export type AgentEnd = "stopped" | "restart" | MatrxError;

/**
 * Starts everything that the options name, and runs until the signal, an owner's command, or the relay's final refusal.
 * Then running calls are stopped first, and parts are closed in reverse order. Throws MatrxError if a part cannot start.
 */
export async function startAgent(options: AgentOptions, stop: AbortSignal, parts = PARTS): Promise<AgentEnd> {
  const { home, device, relay, local, mcp, windDownMs } = options;
  await using services = new AsyncDisposableStack();

  const { log, hub, problems } = services.adopt(
    parts.openReporting({
      ...{ device, log: options.log },
      ...(relay && { conditionsFile: home.conditionsFile }),
    }),
    ({ close }) => close(),
  );
  // Opened before the tools: its lock keeps a second agent away from the first one's jobs.
  const { journal } = services.adopt(
    openAgentJournal({ ...home, connects: relay !== undefined, serves: local !== undefined, log }),
    ({ close }) => close(),
  );
  const toolbox = services.adopt(
    await parts.openToolbox({
      ...{ home, log },
      jobs: relay ? home.jobs : home.localJobs,
      uploads: relay ? home.uploads : home.localUploads,
      relay: relay?.config.relay,
      terminals: relay ? home.terminals : home.localTerminals,
    }),
    ({ close }) => close(),
  );
  const { sessions, checkPaths, lookAtPaths, lookInside, stopJobs } = toolbox;
  const folder = relay ? home.jobs : home.localJobs;
  const { mcpServers: servers } = options;
  if (servers) makePrivateFolder(home.servers);
  const changes = new MountChanges(hub, mountedNow(servers));
  const tools = services.adopt(
    new Mounts({
      ...{ servers, tools: toolbox.tools, runIn: home.servers, folder, pins: home.pins, log },
      ...{ confine: toolbox.confineServer, pictures: toolbox.pictures },
      onClosed: (server, why) => changes.note(server, why),
    }),
    (mounts) => mounts.close(),
  );
  const policy = new PolicyFile(home);
  const pause = new PauseFile(home);
  const activity = new Activity();
  void tools.settled.then(() => policy.warn(tools.current(), log));
  const dispatcher = new Dispatcher({
    ...{ device, policy, pause, activity, journal, log, tools, sessions },
    ...{ checkPaths, lookAtPaths, lookInside, relay: relay?.config.relay },
    ...(windDownMs !== undefined && { windDownMs }),
  });
  const resumed = dispatcher.recover();
  const control = await openControl({
    ...{ device, folder: home.controlFolder, name: relay ? "agent" : "local", activity, log },
    approvals: dispatcher.machineApprovals,
    mounts: tools,
    pauses: { file: pause, dispatcher, stopJobs, activity, log },
  });
  services.defer(() => control.close());
  services.defer(endWhatPolicyEnds({ file: policy, dispatcher, stopJobs: () => stopJobs("everyone"), log }));
  const departure = new Departure(dispatcher, log);
  void aborted(stop).then(() => departure.begin("stopped"));
  // Stops calls that arrived while the surfaces were closing.
  services.defer(() => departure.stopCalls());

  if (local) {
    const calls = new LocalCalls({ device, tools, dispatcher, policy });
    const server = await startLocalServer({ ...local, calls, hub, log });
    services.defer(() => server.close());
    noteListening(home, server.port);
    services.defer(() => forgetListening(home));
    local.onListening(server.url);
  }
  if (mcp) {
    const calls = new LocalCalls({ device, tools, dispatcher, policy, grant: mcp });
    const chosen = new ChosenTools({ enabled: enabledInMemory(), onChange: () => server.toolsChanged() });
    const server = serveMcp(new OneDevice(new LocalDevice(calls), chosen), log);
    tools.onChange(() => server.toolsChanged());
    services.defer(() => server.close());
    // Nobody else would ever look for them.
    services.defer(async () => void (await stopJobs("everyone")));
    void server.closed.then(() => departure.begin("stopped"));
  }
  const settings = monitorSettings(options.monitors);
  const { protectedPaths, endSessions, endCommands } = toolbox;
  const monitors = await parts.startMonitors({ settings, hub, problems, protectedPaths });
  services.defer(() => monitors.close());
  const connection =
    relay &&
    (await Relay.open(relay, {
      pause: control.pauses,
      heads: new KeptHeads(home),
      onLink: (isUp) => activity.noteLink(isUp),
      ...{ tools, policy, dispatcher, journal, hub, log },
      resumed: resumed.filter(({ grant }) => !isLocalGrant(grant)),
      onSessionEnd: (grant, only) => {
        endCommands(grant);
        if (only || grant === EVERY_GRANT) return;
        endSessions(grant);
        dispatcher.endGrant(grant, "The relay ended this caller's grant, or paused it");
      },
      onSystemCommand: (command, reason) => {
        log.info({ command, reason }, "the relay sent a command");
        if (command === "update_permissions") policy.reload();
        else void departure.begin(command === "restart_client" ? "restart" : "stopped");
      },
    }));
  services.defer(() => connection?.close());
  // Stops calls while the local server can still deliver their outcomes.
  services.defer(() => departure.stopCalls());

  const refusal = await (connection?.connect(departure.signal) ?? aborted(departure.signal));
  if (!refusal && departure.end === "stopped") log.info("stopped");
  return refusal ?? departure.end;
}

/** Shutdown: stops running calls while the surfaces can still deliver their outcomes, then closes the surfaces. */
class Departure {
  readonly #dispatcher: Dispatcher;
  readonly #log: Logger;
  readonly #leave = new AbortController();
  end: "stopped" | "restart" = "stopped";

  constructor(dispatcher: Dispatcher, log: Logger) {
    this.#dispatcher = dispatcher;
    this.#log = log;
  }

  /** Aborted when it is time to close. */
  get signal(): AbortSignal {
    return this.#leave.signal;
  }

  async begin(end: "stopped" | "restart"): Promise<void> {
    if (end === "restart") this.end = end;
    const calls = this.#dispatcher.runningCalls;
    if (calls > 0) this.#log.info({ calls }, "stopping the calls that run");
    await this.stopCalls();
    this.#leave.abort();
  }

  stopCalls(): Promise<void> {
    return this.#dispatcher.stopAll("The agent was stopped");
  }
}

async function aborted(signal: AbortSignal): Promise<undefined> {
  if (!signal.aborted) await once(signal, "abort");
}

/** Names of the servers that are started. */
function mountedNow(servers: Config["mcpServers"] = {}): string[] {
  return Object.keys(servers).filter((name) => !servers[name]?.disabled);
}

/** The agent: this machine's tools, held out to the relay until it is told to stop. */
import type { SystemCommand } from "@matrx/shared/device-frames.ts";
import type { MatrxError } from "@matrx/shared/errors.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import type { Logger } from "pino";
import type { Home } from "./config/app-dirs.ts";
import type { Config } from "./config/config.ts";
import { type Identity, signAssertion } from "./config/identity.ts";
import { PolicyFile } from "./config/policy-file.ts";
import { deviceSocketUrl, hostOf } from "./config/relay-url.ts";
import { Dispatcher } from "./core/dispatcher.ts";
import { type Journal, openJournal } from "./core/journal.ts";
import type { EventHub } from "./events/hub.ts";
import { Announcement } from "./relay/announcement.ts";
import { RelayCalls } from "./relay/calls.ts";
import { type ConnectionOptions, keepConnected } from "./relay/connection.ts";
import type { ClientState } from "./relay/link.ts";
import { registerFrame } from "./relay/register.ts";
import type { Toolbox } from "./toolbox.ts";

export interface AgentOptions {
  readonly home: Home;
  readonly config: Config;
  readonly identity: Identity;
  /** Opened once this agent is the only one in its folder, and closed at its end. */
  readonly toolbox: () => Promise<Toolbox>;
  /** What this machine reports by itself. */
  readonly events?: Pick<EventHub, "attach" | "detach"> | undefined;
  /** What runs beside the connection with the same tools: begun before it dials, closed after it ended. */
  readonly services?: ((toolbox: Toolbox) => Promise<{ close(): Promise<void> }>) | undefined;
  readonly log: Logger;
  readonly onState?: ((state: ClientState) => void) | undefined;
  /** For tests: other times. */
  readonly times?: Partial<
    Pick<ConnectionOptions, "retryDelay" | "seldomDelay" | "healthyAfterMs" | "heartbeat" | "handshakeMs"> & {
      toolsLookMs: number;
    }
  >;
  readonly windDownMs?: number | undefined;
}

/** Why the agent ended: `stopped` by a signal or the owner's `shutdown`, `restart` asked for, or the relay's final no. */
export type AgentEnd = "stopped" | "restart" | MatrxError;

/** Runs until the signal, a command of the owner, or the relay's final no. Calls that run then are stopped first. */
export async function runAgent(options: AgentOptions, signal: AbortSignal): Promise<AgentEnd> {
  const { home, config, log } = options;
  const device = config.device_id;
  // First: its lock keeps a second agent away from the jobs of the first.
  const journal = openJournal(home.journalFile, log);
  const toolbox = await options.toolbox().catch((error: unknown) => {
    journal.close();
    throw error;
  });
  const policy = new PolicyFile(home);
  policy.warn(toolbox.tools, log);
  const dispatcher = new Dispatcher({
    ...{ device, policy, journal, log, tools: toolbox.tools, sessions: toolbox.sessions },
    ...(options.windDownMs !== undefined && { windDownMs: options.windDownMs }),
  });
  const leave = new AbortController();
  let end: AgentEnd = "stopped";

  /** Stops what runs while the link can still carry the outcomes, then leaves. */
  const finish = async () => {
    if (dispatcher.runningCalls > 0)
      log.info({ calls: dispatcher.runningCalls }, "stopping the calls that run");
    await dispatcher.stopAll("The agent was stopped");
    leave.abort();
  };
  const obey = (command: SystemCommand["command"], reason: string | undefined) => {
    log.info({ command, reason }, "the relay sent a command");
    if (command === "update_permissions") return policy.reload();
    if (command === "restart_client") end = "restart";
    void finish();
  };
  const calls = new RelayCalls({
    ...{ device, dispatcher, journal, log },
    onSessionEnd: (grant) => toolbox.endGrant(grant as GrantId),
    onSystemCommand: obey,
  });
  calls.takeOver(dispatcher.recover());
  if (signal.aborted) leave.abort();
  const onSignal = () => void finish();
  signal.addEventListener("abort", onSignal, { once: true });

  let beside: { close(): Promise<void> } | undefined;
  let announcement: Announcement | undefined;
  try {
    beside = await options.services?.(toolbox);
    announcement = await Announcement.begin(toolbox.tools, log, options.times?.toolsLookMs);
    const connection = await connectionOf(options, { announcement, calls, journal });
    return (await keepConnected(connection, leave.signal)) ?? end;
  } finally {
    signal.removeEventListener("abort", onSignal);
    announcement?.close();
    await Promise.all([dispatcher.stopAll("The agent was stopped"), beside?.close()]);
    calls.close();
    toolbox.close();
    journal.close();
  }
}

interface Connected {
  readonly announcement: Announcement;
  readonly calls: RelayCalls;
  readonly journal: Journal;
}

/** How this device dials and proves itself, and who hears what comes. */
async function connectionOf(
  { config, identity, events, log, onState, times }: AgentOptions,
  { announcement, calls, journal }: Connected,
): Promise<ConnectionOptions> {
  const { relay, device_id: device } = config;
  const assertion = { iss: device, aud: hostOf(relay) };
  return {
    url: deviceSocketUrl(relay, device),
    manifest: () => announcement.current,
    credential: await signAssertion(identity, assertion),
    register: async (nonce) =>
      registerFrame({
        device,
        manifest: await announcement.fresh(),
        journalId: journal.id,
        ledger: journal.ledgerOf(device),
        token: await signAssertion(identity, { ...assertion, nonce }),
      }),
    onState: (state) => {
      log.info({ relay, device }, state);
      onState?.(state);
    },
    onRegistered: (link, ledger) => {
      if (ledger !== undefined) journal.noteLedger(device, ledger);
      calls.attach(link);
      announcement.attach(link);
      events?.attach(link);
    },
    onFrame: (frame, link) => calls.handle(frame, link),
    onGone: (link) => {
      calls.detach(link);
      announcement.detach(link);
      events?.detach(link);
    },
    log,
    ...times,
  };
}

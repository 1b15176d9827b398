/** The relay as a surface of the agent: announcing tools, running calls, and the connection for both. */
import type { SystemCommand } from "@matrx/shared/device-frames.ts";
import type { ErrorShape, MatrxError } from "@matrx/shared/errors.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import { isClosedTo } from "@matrx/shared/paused.ts";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { type Identity, signAssertion } from "../config/identity.ts";
import type { KeptHeads } from "../config/kept-heads.ts";
import type { PolicyFile } from "../config/policy-file.ts";
import { deviceSocketUrl, hostOf } from "../config/relay-url.ts";
import type { Dispatcher, ResumedCall } from "../core/dispatcher.ts";
import type { Journal } from "../core/journal.ts";
import { pausedError } from "../core/pause.ts";
import type { ToolSource } from "../core/tool-source.ts";
import type { EventHub } from "../events/hub.ts";
import { Announcement, type AnnouncementOptions } from "./announcement.ts";
import type { DeviceDial } from "./bulk-link.ts";
import { RelayCalls } from "./calls.ts";
import { type ConnectionOptions, keepConnected } from "./connection.ts";
import type { ClientState } from "./link.ts";
import { type ObservedPause, PauseStatus } from "./pause-status.ts";
import { registerFrame } from "./register.ts";
import { Streams } from "./streams.ts";

/** Which relay, and as which device. */
export interface RelayOptions {
  readonly config: Pick<Config, "relay" | "device_id">;
  readonly identity: Identity;
  readonly onState?: ((state: ClientState) => void) | undefined;
  /** Other times, for tests. */
  readonly times?: Partial<
    Pick<ConnectionOptions, "retryDelay" | "seldomDelay" | "healthyAfterMs" | "heartbeat" | "handshakeMs"> & {
      toolsLookMs: number;
    }
  >;
}

/** The parts of the agent that the relay surface needs. */
export interface RelayParts {
  readonly tools: ToolSource;
  /** The device's own policy. */
  readonly policy: AnnouncementOptions["policy"] & Pick<PolicyFile, "onChange">;
  readonly dispatcher: Dispatcher;
  readonly journal: Journal;
  readonly hub: Pick<EventHub, "attach" | "detach">;
  readonly log: Logger;
  /** Calls of an earlier run whose outcomes the relay is waiting for. */
  readonly resumed: readonly ResumedCall[];
  readonly pause: ObservedPause;
  readonly heads: KeptHeads;
  /** Told when a connection is registered, and when it is gone. */
  readonly onLink: (isUp: boolean) => void;
  readonly onSessionEnd: (grant: GrantId, only?: "commands") => void;
  readonly onSystemCommand: (command: SystemCommand["command"], reason: string | undefined) => void;
}

export class Relay {
  readonly #calls: RelayCalls;
  readonly #announcement: Announcement;
  readonly #connection: ConnectionOptions;

  private constructor(calls: RelayCalls, announcement: Announcement, connection: ConnectionOptions) {
    this.#calls = calls;
    this.#announcement = announcement;
    this.#connection = connection;
  }

  static async open(options: RelayOptions, parts: RelayParts): Promise<Relay> {
    const { tools, policy, log, resumed } = parts;
    const dial = await dialOf(options);
    const streams = streamsOf(dial, parts);
    const calls = new RelayCalls({
      ...{ ...parts, streams, device: options.config.device_id },
      onSessionEnd: (grant, only) => {
        if (!only) streams.endFor(({ id }) => id === grant, GRANT_ENDED);
        parts.onSessionEnd(grant, only);
      },
    });
    calls.takeOver(resumed.map(({ outcome }) => outcome));
    const announcement = await Announcement.begin({
      tools,
      policy,
      log,
      everyMs: options.times?.toolsLookMs,
    });
    const connection = connectionOf(options, dial, parts, { calls, announcement, streams });
    return new Relay(calls, announcement, connection);
  }

  /** Stays connected until the signal aborts, or the relay's refusal is final; resolves with that refusal. */
  connect(signal: AbortSignal): Promise<MatrxError | undefined> {
    return keepConnected(this.#connection, signal);
  }

  close(): void {
    this.#announcement.close();
    this.#calls.close();
  }
}

async function dialOf({ config, identity }: RelayOptions): Promise<DeviceDial> {
  const { relay, device_id: device } = config;
  const assertion = { iss: device, aud: hostOf(relay) };
  return {
    ...{ url: deviceSocketUrl(relay, device), device },
    credential: await signAssertion(identity, assertion),
    sign: (nonce) => signAssertion(identity, { ...assertion, nonce }),
  };
}

function streamsOf(dial: DeviceDial, { dispatcher, pause, policy, log }: RelayParts): Streams {
  const streams = new Streams({
    bulk: { ...dial, log },
    refusalNow: (tool, asker, needs) => dispatcher.refusalNow(tool, asker, needs),
    log,
  });
  policy.onChange(() => streams.rightsChanged());
  pause.onChange(() => {
    const paused = pause.current;
    if (paused) streams.endFor((grant) => isClosedTo(paused, grant), pausedError(paused).shape());
  });
  return streams;
}

const GRANT_ENDED: ErrorShape = {
  code: "PERMISSION_DENIED",
  message: "The relay ended this caller's grant, or paused it",
  hop: "agent",
};

/** How this device connects, and who handles frames. */
function connectionOf(
  { config: { relay }, onState, times }: RelayOptions,
  { url, device, credential, sign }: DeviceDial,
  { journal, hub, log, pause, heads, onLink }: RelayParts,
  { calls, announcement, streams }: { calls: RelayCalls; announcement: Announcement; streams: Streams },
): ConnectionOptions {
  const status = new PauseStatus(pause);
  return {
    url,
    credential,
    manifest: () => announcement.current,
    register: async (nonce) =>
      registerFrame({
        device,
        manifest: await announcement.fresh(),
        journalId: journal.id,
        ledger: journal.ledgerOf(device),
        paused: status.fresh(),
        token: await sign(nonce),
      }),
    onState: (state) => {
      log.info({ relay, device }, state);
      onState?.(state);
    },
    onRegistered: (link, ledger) => {
      if (ledger !== undefined) journal.noteLedger(device, ledger);
      streams.attach(link);
      calls.attach(link);
      announcement.attach(link);
      hub.attach(link);
      status.attach(link);
      onLink(true);
    },
    onFrame: (frame, link) => {
      if (frame.type === "audit_head") heads.keep(relay, frame);
      else calls.handle(frame, link);
    },
    onStreamFrame: (frame) => streams.receive(frame),
    onGone: (link) => {
      calls.detach(link);
      streams.detach(link);
      announcement.detach(link);
      hub.detach(link);
      status.detach(link);
      onLink(false);
    },
    log,
    ...times,
  };
}

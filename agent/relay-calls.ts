/** The relay's calls: run here, and answered over whichever connection is up when they end. */
import type { SystemCommand, ToDevice, ToolExecute } from "@matrx/shared/device-frames.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import type { Logger } from "pino";
import { errorOutcome, type Outcome } from "./answers.ts";
import type { Dispatcher } from "./dispatch.ts";
import type { CallState, Journal } from "./journal.ts";
import type { Link } from "./link.ts";

export interface RelayCallsOptions {
  readonly device: string;
  readonly dispatcher: Dispatcher;
  readonly journal: Journal;
  readonly log: Logger;
  readonly onSessionEnd: (grant: string) => void;
  readonly onSystemCommand: (command: SystemCommand["command"], reason: string | undefined) => void;
}

/** Outcomes that wait for a connection together, in bytes. */
const WAITING_BYTES = 32 * 1024 * 1024;

interface Waiting {
  outcome: Outcome;
  since: number;
}

export class RelayCalls {
  readonly #options: RelayCallsOptions;
  #link: Link | undefined;
  /**
   * Outcomes that came while no connection was up, and are not in the journal: those of reads, which the relay gives
   * again, and of effects that were refused or could not be written down, for which it asks.
   */
  readonly #waiting = new Map<string, Waiting>();

  constructor(options: RelayCallsOptions) {
    this.#options = options;
  }

  /** A connection is registered: what was not acknowledged goes first. */
  attach(link: Link): void {
    this.#link = link;
    void this.#resend(link);
  }

  detach(link: Link): void {
    if (this.#link === link) this.#link = undefined;
  }

  /** One frame of the relay. */
  handle(frame: ToDevice, link: Link): void {
    const { journal, dispatcher, log, onSessionEnd, onSystemCommand } = this.#options;
    switch (frame.type) {
      case "tool_execute":
        this.#execute(frame);
        return;
      case "tool_cancel":
        dispatcher.cancel(frame.tool_call_id);
        return;
      case "call_status":
        link.sendText({
          type: "call_status",
          calls: frame.tool_call_ids.map((call) => ({ tool_call_id: call, state: this.#stateOf(call) })),
        });
        for (const call of frame.tool_call_ids) this.#sendWaiting(call);
        return;
      case "result_ack":
        journal.acknowledge(frame.tool_call_ids);
        return;
      case "session_end":
        onSessionEnd(frame.grant);
        return;
      case "system_command":
        onSystemCommand(frame.command, frame.reason);
        return;
      case "device_registered":
      case "heartbeat_ack":
      case "error":
      case "assistant_response":
      case "llm_request":
      case "llm_response_chunk":
        log.debug({ type: frame.type }, "a frame of the relay needs no answer");
        return;
      default:
        frame satisfies never;
    }
  }

  #execute(frame: ToolExecute): void {
    const { dispatcher, device } = this.#options;
    const { tool_call_id: call, id, session, grant, timeout_ms, timeout_sec } = frame;
    // Sent again while it runs: its one answer is still to come.
    if (dispatcher.isRunning(call)) return;
    if (this.#sendWaiting(call)) return;
    if (frame.replay) {
      this.#replay(call);
      return;
    }
    if (!grant) {
      this.#send(errorOutcome({ call, id, device }, NO_GRANT, { ms: 0, effect: false }));
      return;
    }
    const onOutput = frame.stream
      ? (piece: Parameters<Link["sendOutput"]>[2]) => this.#link?.sendOutput(call, id, piece)
      : undefined;
    const request = {
      call,
      id,
      session,
      grant,
      relayPolicy: frame.policy,
      onOutput,
      tool: frame.tool,
      input: frame.parameters,
      timeoutMs: timeout_ms ?? Math.ceil(timeout_sec * 1000),
    };
    void dispatcher.run(request).then((outcome) => this.#send(outcome));
  }

  #send(outcome: Outcome): void {
    if (this.#link?.isOpen) {
      void this.#link.sendOutcome(outcome);
      return;
    }
    // What the journal has is sent again from there.
    if (this.#options.dispatcher.stateOf(outcome.header.call) === "finished") return;
    this.#waiting.set(outcome.header.call, { outcome, since: performance.now() });
    this.#forget();
  }

  /** Sends an outcome that waited. Tells whether there was one. */
  #sendWaiting(call: string): boolean {
    const ended = this.#waiting.get(call);
    if (!ended) return false;
    this.#waiting.delete(call);
    this.#send(ended.outcome);
    return true;
  }

  /** Drops what waited too long, and the oldest of too much. */
  #forget(): void {
    const now = performance.now();
    let bytes = 0;
    for (const [call, { outcome, since }] of [...this.#waiting].reverse()) {
      bytes += outcome.body.length;
      if (bytes > WAITING_BYTES || now - since > TIMES.reconnectGrace) this.#waiting.delete(call);
    }
  }

  /** The relay asks for an outcome that only the journal holds: as it was, or that it is not there. */
  #replay(call: string): void {
    const { journal, device } = this.#options;
    const { header, body } = journal.find(call) ?? {};
    this.#send(
      header && body ? { header, body } : errorOutcome({ call, device }, NOT_KEPT, { ms: 0, effect: true }),
    );
  }

  /** One after the other, each once the one before has left: a backlog must not fill the memory. */
  async #resend(link: Link): Promise<void> {
    const { journal, log, device } = this.#options;
    try {
      for (const call of journal.unacknowledged()) {
        if (!link.isOpen) return;
        const entry = journal.find(call);
        if (!entry?.header) continue;
        const { header, body } = entry;
        await link.sendOutcome(
          body ? { header, body } : errorOutcome({ call, device }, NOT_KEPT, { ms: header.ms, effect: true }),
        );
      }
    } catch (err) {
      log.error({ err }, "the journal could not be read");
    }
  }

  #stateOf(call: string): CallState {
    return this.#waiting.has(call) ? "finished" : this.#options.dispatcher.stateOf(call);
  }
}

const NO_GRANT = {
  code: "PERMISSION_DENIED",
  message: "The relay sent no grant with this call, so it is refused",
  hint: "Update the relay",
  hop: "agent",
} as const;

const NOT_KEPT = {
  code: "OUTCOME_UNKNOWN",
  message: "The call's outcome is no longer in the device's journal",
  hint: "Check what it changed before trying again",
  hop: "agent",
} as const;

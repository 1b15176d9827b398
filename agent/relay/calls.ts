/** Runs the relay's calls, and answers them over whichever connection is up when they end. */
import type { Progress } from "@matrx/shared/content.ts";
import type { ExecuteOpens, SystemCommand, ToDevice, ToolExecute } from "@matrx/shared/device-frames.ts";
import { toolNameOf } from "@matrx/shared/effects.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import type { Logger } from "pino";
import { bodilessOutcome, errorOutcome, type Outcome } from "../core/answers.ts";
import type { CallRequest, ServedStream } from "../core/call-request.ts";
import { cancelledError } from "../core/deadline.ts";
import type { Dispatcher } from "../core/dispatcher.ts";
import type { Journal } from "../core/journal.ts";
import { type CallState, isLocalGrant, type JournalEntry } from "../core/journal-entry.ts";
import type { Link } from "./link.ts";
import { OutcomeSender } from "./outcome-sender.ts";
import { Preparations } from "./preparations.ts";
import type { Streams } from "./streams.ts";

export interface RelayCallsOptions {
  readonly device: string;
  readonly dispatcher: Dispatcher;
  readonly journal: Journal;
  readonly streams: Pick<Streams, "serve" | "refuse">;
  readonly log: Logger;
  /** `commands`: only what they left running. */
  readonly onSessionEnd: (grant: GrantId, only?: "commands") => void;
  readonly onSystemCommand: (command: SystemCommand["command"], reason: string | undefined) => void;
}

export class RelayCalls {
  readonly #options: RelayCallsOptions;
  /**
   * While no connection is up, it keeps outcomes that are not in the journal: those of reads, which the relay would send
   * again, and of effects that were refused or could not be recorded, which the relay asks about.
   */
  readonly #sender: OutcomeSender;
  readonly #preparations: Preparations;
  #link: Link | undefined;

  constructor(options: RelayCallsOptions) {
    const { journal, log } = options;
    this.#options = options;
    this.#preparations = new Preparations(options.dispatcher);
    this.#sender = new OutcomeSender({ journal, log, notKept: (call, id) => this.#notKept(call, id) });
  }

  /** A connection is registered: unacknowledged outcomes are sent first. */
  attach(link: Link): void {
    this.#link = link;
    this.#sender.attach(link);
    this.#preparations.attach(link);
    void this.#resend(link);
  }

  /** Takes over calls of an earlier run of this program: their outcomes are sent as they arrive. */
  takeOver(outcomes: readonly Promise<Outcome>[]): void {
    for (const outcome of outcomes) void outcome.then((ended) => this.#sender.send(ended));
  }

  detach(link: Link): void {
    if (this.#link === link) this.#link = undefined;
    this.#sender.detach(link);
    this.#preparations.detach(link);
  }

  /** Called when the agent ends. */
  close(): void {
    this.#sender.close();
    this.#preparations.close();
  }

  /** Handles one frame from the relay. */
  handle(frame: ToDevice, link: Link): void {
    const { journal, log, onSessionEnd, onSystemCommand } = this.#options;
    switch (frame.type) {
      case "tool_execute":
        this.#execute(frame);
        return;
      case "tool_prepare":
        void this.#preparations.prepare(frame);
        return;
      case "tool_cancel":
        this.#cancel(frame.tool_call_id);
        return;
      case "call_status":
        link.sendText({
          type: "call_status",
          calls: frame.tool_call_ids.map((call) => ({ tool_call_id: call, state: this.#stateOf(call) })),
        });
        for (const call of frame.tool_call_ids) if (!this.#sender.sendKept(call)) this.#sendLost(call);
        return;
      case "result_ack":
        journal.acknowledge(frame.tool_call_ids);
        return;
      case "credit":
        this.#sender.credit(frame.tool_call_ids);
        return;
      case "session_end":
        onSessionEnd(frame.grant as GrantId, frame.only);
        return;
      case "system_command":
        onSystemCommand(frame.command, frame.reason);
        return;
      case "device_registered":
      case "bulk_ready":
      case "audit_head":
      case "heartbeat_ack":
      case "error":
      case "assistant_response":
      case "llm_request":
      case "llm_response_chunk":
        log.debug({ type: frame.type }, "a frame from the relay needs no answer");
        return;
      default:
        frame satisfies never;
    }
  }

  #execute(frame: ToolExecute): void {
    const { dispatcher, device } = this.#options;
    const { tool_call_id: call, id, session, grant, timeout_ms, timeout_sec } = frame;
    // Sent again while it runs: its one answer is still to come.
    if (dispatcher.isRunning(call) && !this.#isLocal(call)) return;
    if (this.#sender.sendKept(call)) return;
    if (frame.replay) {
      this.#replay(call);
      return;
    }
    if (!grant) {
      const refused = errorOutcome({ call, id, device }, NO_GRANT, { ms: 0, effect: false, ran: false });
      void this.#sender.send(refused, id);
      return;
    }
    const onOutput = frame.stream
      ? (piece: Parameters<Link["sendOutput"]>[2]) => this.#link?.sendOutput(call, id, piece)
      : undefined;
    const onProgress = frame.stream
      ? (progress: Progress) => this.#link?.sendProgress(call, progress)
      : undefined;
    let served: ServedStream | undefined;
    const { opens } = frame;
    const request = {
      call,
      id,
      session,
      grant,
      relayPolicy: frame.policy,
      onOutput,
      onProgress,
      ...(opens && {
        onStream: (stream: ServedStream) => {
          served = stream;
        },
      }),
      room: (bytes: number, signal: AbortSignal) => this.#sender.room(call, bytes, signal),
      tool: frame.tool,
      called: frame.called,
      input: frame.parameters,
      timeoutMs: timeout_ms ?? Math.ceil(timeout_sec * 1000),
      key: frame.idempotency_key,
      fingerprint: frame.input_hash,
      approval: frame.approval,
      journal: "always" as const,
    };
    void dispatcher.run(request).then((outcome) => {
      void this.#sender.send(outcome, id);
      if (opens) this.#stream(opens, served, request, outcome);
    });
  }

  /** Serves the stream that a call opened, or says that it opened none. */
  #stream(
    opens: ExecuteOpens,
    served: ServedStream | undefined,
    request: CallRequest,
    outcome: Outcome,
  ): void {
    const { streams } = this.#options;
    const { call, tool, grant, relayPolicy } = request;
    if (served) void streams.serve({ ...served, opens, call, tool: toolNameOf(tool), grant, relayPolicy });
    else streams.refuse(opens, outcome.header.status === "success" ? NO_STREAM : NOT_OPENED);
  }

  /** The relay asks for an outcome that it had acknowledged: its storage lost it. Unacknowledged ones are sent anyway. */
  #sendLost(call: string): void {
    const entry = this.#find(call);
    if (entry?.acknowledged) void this.#sender.send(this.#outcomeOf(entry), entry.id);
  }

  /** The outcome of an ended call, as far as it is still kept. */
  #outcomeOf({ call, id, tool, header, body }: JournalEntry): Outcome {
    const { device } = this.#options;
    if (!header) return this.#notKept(call, id);
    return body ? { header, body } : bodilessOutcome({ call, id, tool, device }, header);
  }

  #notKept(call: string, id: string | undefined): Outcome {
    return errorOutcome({ call, id, device: this.#options.device }, NOT_KEPT, { ms: 0, effect: true });
  }

  /** Also ends a read whose outcome is only waiting to be sent: its caller may be gone. */
  #cancel(call: string): void {
    const { dispatcher, device } = this.#options;
    if (!this.#isLocal(call) && dispatcher.cancel(call)) return;
    const read = this.#sender.dropRead(call);
    if (!read) return;
    const error = cancelledError("The call was cancelled").shape();
    void this.#sender.send(
      errorOutcome({ call, id: read.id, device }, error, { ms: 0, effect: false }),
      read.id,
    );
  }

  /** The relay asks for an outcome that only the journal has: sends it, or says that it is not there. */
  #replay(call: string): void {
    const entry = this.#find(call);
    void this.#sender.send(entry ? this.#outcomeOf(entry) : this.#notKept(call, undefined), entry?.id);
  }

  /** Sends one at a time, each after the previous one is sent: a backlog must not fill memory. */
  async #resend(link: Link): Promise<void> {
    const { journal, log } = this.#options;
    try {
      for (const call of journal.unacknowledged()) {
        if (!link.isOpen) return;
        if (this.#sender.isKept(call) || this.#sender.isLeaving(call)) continue;
        const entry = journal.find(call);
        if (entry) await this.#sender.send(this.#outcomeOf(entry), entry.id);
      }
    } catch (err) {
      log.error({ err }, "the journal could not be read");
    }
  }

  #stateOf(call: string): CallState {
    if (this.#sender.isKept(call)) return "finished";
    return this.#isLocal(call) ? "never" : this.#options.dispatcher.stateOf(call);
  }

  /** What is known of a call of the relay's. */
  #find(call: string): JournalEntry | undefined {
    const entry = this.#options.journal.find(call);
    return isLocalGrant(entry?.grant) ? undefined : entry;
  }

  /** A call of this machine's own programs, whose name a caller at the relay chose, too. */
  #isLocal(call: string): boolean {
    return isLocalGrant(this.#options.dispatcher.grantOf(call));
  }
}

const NO_GRANT = {
  code: "PERMISSION_DENIED",
  message: "The relay sent no grant with this call, so it is refused",
  hint: "Update the relay",
  hop: "agent",
} as const;

const NO_STREAM = {
  code: "INVALID_PARAMETERS",
  message: "opens: the call opened no stream: its tool has none, or its answer is that of an earlier call",
  hint: "Make a new call, of a tool that has a stream",
  hop: "agent",
} as const;

const NOT_OPENED = {
  code: "CANCELLED",
  message: "The call failed, so its stream was not opened",
  hint: "The call's answer says why",
  hop: "agent",
} as const;

const NOT_KEPT = {
  code: "OUTCOME_UNKNOWN",
  message: "The call's outcome is no longer in the device's journal",
  hint: "Check what it changed before trying again",
  hop: "agent",
} as const;

/** A call's life: admitted, sent, answered once; and what becomes of it when a link, this object or the device dies. */
import type { Proof } from "@matrx/shared/api.ts";
import type { Effect } from "@matrx/shared/effects.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import { type CallId, type GrantId, makeCallId, type SessionId } from "@matrx/shared/ids.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import type { OutputHeader, ResultHeader } from "@matrx/shared/result-frame.ts";
import type { DeviceLink } from "./device-link.ts";
import { offline } from "./device-link.ts";
import { executeFrame, extrasOf, replayFrame } from "./execute-frame.ts";
import { type Flight, Flights, KEPT_FRAME_CHARS } from "./flights.ts";
import { type Lease, revokedGrant } from "./leases.ts";
import type { Ledger } from "./ledger.ts";
import { type Recipient, withId } from "./recipient.ts";
import type { RecordStore } from "./record.ts";

/** A call as a surface gives it. */
export interface WantedCall {
  /** Made in the Worker for REST; else here. */
  call?: CallId | undefined;
  tool: string;
  /** JSON of the input. */
  parameters: string;
  lease: Lease;
  /** The caller's id; REST has none. */
  id?: string | undefined;
  session?: SessionId | undefined;
  /** What the caller asked for, in milliseconds. */
  timeoutMs?: number | undefined;
  stream?: boolean | undefined;
  /** Idempotency key. */
  key?: string | undefined;
}

/** What the gate found out about a call that it let pass. */
export interface Passed {
  /** The device's own name for the tool. */
  tool: string;
  effect: Effect;
  /** What the tool takes at most, in milliseconds. */
  toolTimeoutMs: number;
}

/** Tells the surface the call and its deadline; returns who gets the answer. */
export type Expect = (call: CallId, deadline: number, effect: Effect) => Recipient;

/** An idempotency key, and what it stands for. */
export interface Keyed {
  key: string;
  digest: string;
}

/** A proof as it is noted for each answer; its time is put in words only when somebody looks. */
interface LastAnswer {
  at: number;
  verdict: Proof["verdict"];
  tool: string;
  ms: number;
}

export class Calls {
  readonly flights = new Flights();
  #proof: LastAnswer | undefined;
  /** Answers to calls that were never given. */
  strays = 0;
  readonly #store: RecordStore;
  readonly #link: DeviceLink;
  readonly #ledger: Ledger;
  /** Effect calls whose outcome is durable, to be told to the agent. */
  #acks: string[] = [];
  /** Calls without a row whose callers were answered, or left, before the device was. */
  readonly #givenUp = new Set<string>();
  /** When the link went down, while calls wait for it. */
  #downSince: number | undefined;

  constructor(store: RecordStore, link: DeviceLink, ledger: Ledger) {
    this.#store = store;
    this.#link = link;
    this.#ledger = ledger;
  }

  /**
   * Writes the ledger row of an effect, then sends the frame. `expect` is told the call and its deadline, and returns
   * who gets the answer. Throws MatrxError; then nothing was sent.
   */
  send(wanted: WantedCall, passed: Passed, keyed: Keyed | undefined, now: number, expect: Expect): CallId {
    const socket = this.#link.requireLive(now);
    const call = wanted.call ?? makeCallId(now);
    const { tool, effect } = passed;
    const timeoutMs = wanted.timeoutMs ?? passed.toolTimeoutMs;
    const deadline = now + timeoutMs;
    const extras = socket.attachment.ours ? extrasOf(wanted, this.#store.limits) : "";
    const frame = executeFrame(call, tool, timeoutMs, wanted.parameters, extras);
    const ledgered = effect !== "read";
    const grant = wanted.lease.scope.id as GrantId;
    if (ledgered) {
      const { key, digest } = keyed ?? { key: null, digest: null };
      this.#ledger.open({ call, grant, tool, effect, key, digest, created: now, deadline });
    }
    const flight: Flight = {
      call,
      tool,
      id: wanted.id,
      effect,
      grant,
      created: now,
      deadline,
      recipient: expect(call, deadline, effect),
      ledgered,
      frame: frame.length <= KEPT_FRAME_CHARS ? frame : undefined,
      missed: 0,
    };
    this.flights.add(flight);
    try {
      this.#link.sendTo(socket, frame);
    } catch {
      this.#ledger.close(call, "expired", "DEVICE_OFFLINE", now);
      this.#refuse(flight, offline("The device's connection broke as the call was sent").shape());
    }
    return call;
  }

  /** The last real answer of the device. */
  get proof(): Proof | null {
    if (!this.#proof) return null;
    const { at, verdict, tool, ms } = this.#proof;
    return { at: new Date(at).toISOString(), verdict, tool, ms };
  }

  /** After a sleep. */
  restoreProof(proof: Proof | null): void {
    this.#proof = proof ? { ...proof, at: Date.parse(proof.at) } : undefined;
  }

  /** The device answered. */
  result(header: ResultHeader, body: Uint8Array, now: number): void {
    const flight = this.flights.take(header.call);
    this.#noteProof(header, flight, now);
    flight?.recipient?.result(header, body);
    if (flight?.followers) for (const follower of flight.followers) follower.result(header, body);
    if (flight && !flight.ledgered) return;
    if (!this.#ledger.finish(header, body, now) && !flight) this.#late(header);
    this.#acks.push(header.call);
  }

  /** Live output of a call; it may be left out, and then a gap is said. */
  output({ call }: OutputHeader, body: Uint8Array): void {
    const flight = this.flights.get(call);
    if (!flight?.recipient) return;
    if (flight.recipient.output(body, flight.missed)) flight.missed = 0;
    else flight.missed++;
  }

  /** Tells the agent which outcomes are durable; the platform holds the frame until they are. */
  flushAcks(): void {
    if (this.#acks.length === 0) return;
    const tool_call_ids = this.#acks;
    this.#acks = [];
    if (this.#link.current?.attachment.ours) this.#link.send({ type: "result_ack", tool_call_ids });
  }

  get hasAcks(): boolean {
    return this.#acks.length > 0;
  }

  /** Asks the device to stop a call. A bare device knows no such word: its caller is answered here. */
  cancel(call: CallId): void {
    const flight = this.flights.get(call);
    if (this.#stop(call) || !flight) return;
    this.#refuse(flight, {
      code: "CANCELLED",
      message: "Cancelled; the device may still finish what it began",
      hop: "relay",
    });
  }

  /** A caller went away. Its call stops or goes on; the outcome of an effect stays readable either way. */
  abandon(call: CallId, socket: WebSocket, stop: boolean): void {
    const flight = this.flights.get(call);
    if (!flight) return;
    if (flight.followers)
      flight.followers = flight.followers.filter((follower) => follower.socket !== socket);
    if (flight.recipient?.socket !== socket) return;
    flight.recipient = undefined;
    if (stop) this.cancel(call);
    if (!flight.ledgered) this.#giveUp(flight);
  }

  /** Fetches an outcome that only the agent's journal holds. */
  replay(
    call: CallId,
    tool: string,
    asker: Pick<WantedCall, "id" | "lease">,
    recipient: Recipient,
    now: number,
  ): void {
    const flight = this.flights.get(call);
    if (flight) return follow(flight, recipient, asker.id);
    if (!this.#link.current?.attachment.ours || !this.#link.send(replayFrame(call, tool))) {
      return recipient.refuse(
        offline("The outcome is in the device's journal, and the device is offline").shape(),
        call,
      );
    }
    const grant = asker.lease.scope.id as GrantId;
    const deadline = now + TIMES.callDefault;
    const fetching: Flight = {
      ...{ call, tool, effect: "read", grant, created: now, deadline, ledgered: false, missed: 0 },
      recipient: undefined,
    };
    follow(fetching, recipient, asker.id);
    this.flights.add(fetching);
  }

  /** The caller did not get an answer in time and goes away with the call's name: now its outcome must be kept. */
  sendAway(call: CallId): { kind: "pending"; call: CallId } {
    const flight = this.flights.get(call);
    if (flight && !flight.ledgered) {
      const { grant, tool, effect, created, deadline } = flight;
      this.#ledger.open({ call, grant, tool, effect, key: null, digest: null, created, deadline });
      flight.ledgered = true;
    }
    if (flight) flight.recipient = undefined;
    return { kind: "pending", call };
  }

  /** Nobody can tell what became of a call. */
  refuseUnknown(call: CallId, recipient: Recipient): void {
    recipient.refuse(this.#outcomeUnknown(call, "What became of the call is not known"), call);
  }

  /** Ends the calls of a revoked grant: they are answered no more. */
  revoke(grant: GrantId): void {
    for (const flight of this.flights.all()) {
      if (flight.grant !== grant) continue;
      this.#stop(flight.call);
      this.#refuse(flight, revokedGrant());
    }
    if (this.#link.current?.attachment.ours) this.#link.send({ type: "session_end", grant });
  }

  /** The device is no more: every call gets this answer. */
  endAll(error: ErrorShape): void {
    for (const flight of this.flights.all()) this.#refuse(flight, error);
  }

  linkDown(now: number): void {
    if (this.flights.size > 0) this.#downSince = now;
  }

  /** The device is back. Reads run again; of effects it is asked what became of them. */
  linkUp(ours: boolean, journalIsNew: boolean, now: number): void {
    this.#downSince = undefined;
    if (journalIsNew) this.#journalLost(now);
    for (const flight of this.flights.all()) {
      if (flight.ledgered) continue;
      if (!flight.frame) this.#refuse(flight, offline("The device dropped out before it answered").shape());
      else this.#link.send(flight.frame);
    }
    const open = ours ? this.#ledger.openCalls().map(({ call }) => call) : [];
    if (open.length > 0) this.#link.send({ type: "call_status", tool_call_ids: open });
  }

  /** The agent's journal tells what became of calls. */
  status(
    calls: readonly { tool_call_id: string; state: "never" | "started" | "finished" | "unknown" }[],
    now: number,
  ): void {
    for (const { tool_call_id, state } of calls) {
      if (state === "never") this.#neverRan(tool_call_id as CallId, now);
      else if (state === "unknown")
        this.#unknown(tool_call_id as CallId, "The device stopped while the call ran", now);
    }
  }

  /** Ends what is past its time. */
  sweep(now: number): void {
    const gone = this.#downSince !== undefined && now - this.#downSince >= TIMES.reconnectGrace;
    if (gone) this.#downSince = undefined;
    for (const flight of this.flights.all()) {
      if (gone)
        this.#refuse(
          flight,
          flight.ledgered
            ? this.#outcomeUnknown(flight.call, "The device dropped out while the call ran")
            : offline("The device dropped out before it answered").shape(),
        );
      else if (now >= flight.deadline + TIMES.deadlineGrace) this.#overdue(flight);
    }
  }

  /** When `sweep` has something to do next, in milliseconds since 1970. */
  nextSweep(): number | undefined {
    let next =
      this.#downSince === undefined ? Number.POSITIVE_INFINITY : this.#downSince + TIMES.reconnectGrace;
    for (const flight of this.flights.all()) next = Math.min(next, flight.deadline + TIMES.deadlineGrace);
    return Number.isFinite(next) ? next : undefined;
  }

  #overdue(flight: Flight): void {
    this.#stop(flight.call);
    if (flight.ledgered)
      this.#refuse(flight, this.#outcomeUnknown(flight.call, "The device did not answer in time"));
    else
      this.#refuse(flight, {
        code: "TIMEOUT",
        message: "The device did not answer in time",
        hint: "Try again, or give it longer with timeout_ms",
        hop: "relay",
      });
  }

  /** False: the device knows no such word. */
  #stop(call: CallId): boolean {
    return (
      Boolean(this.#link.current?.attachment.ours) &&
      this.#link.send({ type: "tool_cancel", tool_call_id: call })
    );
  }

  #neverRan(call: CallId, now: number): void {
    const flight = this.flights.get(call);
    if (flight?.frame && flight.deadline > now && this.#link.send(flight.frame)) return;
    this.#ledger.close(call, "expired", "DEVICE_OFFLINE", now);
    if (flight)
      this.#refuse(flight, {
        ...offline("The device dropped out before the call reached it").shape(),
        hint: "It did not run: send it again",
      });
  }

  #unknown(call: CallId, why: string, now: number): void {
    this.#ledger.close(call, "unknown", "OUTCOME_UNKNOWN", now);
    const flight = this.flights.get(call);
    if (flight) this.#refuse(flight, this.#outcomeUnknown(flight.call, why));
  }

  #journalLost(now: number): void {
    for (const { call } of this.#ledger.openCalls())
      this.#unknown(call, "The device lost its record of the call", now);
    this.#ledger.forgetJournal();
  }

  #giveUp({ call }: Flight): void {
    this.flights.take(call);
    if (this.#givenUp.size >= LIMITS.unansweredPerDevice) this.#givenUp.clear();
    this.#givenUp.add(call);
  }

  #refuse(flight: Flight, error: ErrorShape): void {
    this.#giveUp(flight);
    flight.recipient?.refuse(error, flight.call);
    for (const follower of flight.followers ?? []) follower.refuse(error, flight.call);
  }

  #outcomeUnknown(call: CallId, message: string): ErrorShape {
    const url = `/v1/devices/${this.#store.record?.id}/calls/${call}`;
    return {
      code: "OUTCOME_UNKNOWN",
      message,
      hint: `It may have run. Before you send it again, look at GET ${url}`,
      hop: "relay",
      details: { url },
    };
  }

  #noteProof(header: ResultHeader, flight: Flight | undefined, now: number): void {
    this.#proof = {
      at: now,
      verdict: header.status,
      tool: flight?.tool || (header.tool ?? ""),
      ms: header.ms,
    };
  }

  /** An answer that nobody waits for: to a call that was given up, one told twice, or one that was never given. */
  #late({ call }: ResultHeader): void {
    if (this.#givenUp.delete(call) || this.#ledger.find(call as CallId)) return;
    this.strays++;
    console.warn(`device ${this.#store.record?.id} answered a call that it was not given: ${call}`);
  }
}

/** A second asker with the same idempotency key gets the first one's answer, under an id of its own. */
export function follow(flight: Flight, recipient: Recipient, id: string | undefined): void {
  const follower: Recipient = {
    ...(recipient.socket && { socket: recipient.socket }),
    result: (header, body) => recipient.result(header, withId(body, id)),
    output: (body, missed) => recipient.output(body, missed),
    refuse: (error, call) => recipient.refuse(error, call),
  };
  flight.followers = [...(flight.followers ?? []), follower];
}

/** A call's life while all goes well: sent, answered once, cancelled, left. For the rest see `recovery.ts`. */
import type { Proof } from "@matrx/shared/api.ts";
import { type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";
import { type CallId, type DeviceId, type GrantId, makeCallId } from "@matrx/shared/ids.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import type { OutputHeader, ResultHeader } from "@matrx/shared/result-frame.ts";
import { Tally } from "../../tally.ts";
import { type DeviceLink, type DeviceSocket, offline } from "../connection.ts";
import { revokedGrant } from "../leases.ts";
import { requireHeld } from "../link/bare-limits.ts";
import { checkedAnswer, isOutputOf } from "../link/device-answer.ts";
import { type Sign, type SignOfLife, silent } from "../link/sign-of-life.ts";
import type { RecordStore } from "../store.ts";
import type { Expect, Keyed, Passed, WantedCall } from "./call.ts";
import { executeFrame, extrasOf, replayFrame } from "./execute-frame.ts";
import type { Ledger } from "./ledger.ts";
import { type Flight, Flights, follow } from "./pending.ts";
import type { Recipient } from "./types.ts";

/** A call by its record: it was made before, and what is known of it stands in the ledger. */
export type RecordedCall = Pick<Flight, "call" | "tool" | "effect" | "grant" | "created" | "deadline">;

/** A proof as it is noted for each answer; its time is put in words only when somebody looks. */
interface LastAnswer {
  at: number;
  verdict: Proof["verdict"];
  tool: string;
  ms: number;
}

export class Calls {
  readonly flights = new Flights();
  /** Answers to calls that were never given. */
  readonly strays: Tally;
  readonly #store: RecordStore;
  readonly #link: DeviceLink;
  readonly #signs: SignOfLife;
  readonly #ledger: Ledger;
  readonly #settled: (call: string) => void;
  /** Effect calls whose outcome is durable, to be told to the agent. */
  #acks: string[] = [];
  /** Calls without a row whose callers were answered, or left, before the device was. */
  readonly #givenUp = new Set<string>();
  /** Changed in place: it is noted for each answer. */
  readonly #proof: LastAnswer = { at: 0, verdict: "success", tool: "", ms: 0 };

  /** `later`: as a Tally asks. `settled` hears of each call that got its one answer, or that nobody waits for any more. */
  constructor(
    store: RecordStore,
    link: DeviceLink,
    signs: SignOfLife,
    ledger: Ledger,
    later: (at: number) => void,
    settled: (call: string) => void,
  ) {
    this.strays = new Tally(
      (count) => `device ${store.record?.id} answered calls it was not given: ${count}`,
      later,
    );
    this.#store = store;
    this.#link = link;
    this.#signs = signs;
    this.#ledger = ledger;
    this.#settled = settled;
  }

  /**
   * Writes the ledger row of an effect, then sends the frame, to a silent device after a sign of life. `expect` is told
   * the call and its deadline, and returns who gets the answer. Throws MatrxError; then nothing was sent.
   */
  send(wanted: WantedCall, passed: Passed, keyed: Keyed | undefined, now: number, expect: Expect): CallId {
    const socket = this.#signs.requireLive(now);
    const call = wanted.call ?? makeCallId(now);
    const { tool, called, effect } = passed;
    const timeoutMs = wanted.timeoutMs ?? passed.toolTimeoutMs;
    const deadline = now + timeoutMs;
    const { ours } = socket.attachment;
    if (!ours) requireHeld(tool, wanted.parameters, wanted.lease.scope, this.#store.policy);
    const extras = ours ? extrasOf(wanted, keyed, this.#store.limits, called) : "";
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
      recipients: [expect(call, deadline, effect)],
      ledgered,
      frame: this.flights.keepable(frame),
      missed: 0,
    };
    this.flights.add(flight);
    if (this.#signs.isDue(now)) this.#sendAfterSign(flight, frame, now);
    else this.#sendNow(flight, frame, socket, now);
    return call;
  }

  #sendNow(flight: Flight, frame: string, socket: DeviceSocket, now: number): void {
    flight.unsent = false;
    try {
      this.#link.sendTo(socket, frame);
    } catch {
      this.#refuseUnsent(
        flight,
        offline("The device's connection broke while the call was being sent").shape(),
        now,
      );
    }
  }

  #sendAfterSign(flight: Flight, frame: string, now: number): void {
    flight.unsent = true;
    const told = (sign: Sign, at: number) => {
      if (sign === "replaced" || this.flights.get(flight.call) !== flight) return;
      const { current } = this.#link;
      if (sign === "alive" && current) this.#sendNow(flight, frame, current, at);
      else this.#refuseUnsent(flight, (current ? silent() : droppedOut()).shape(), at);
    };
    try {
      this.#signs.wait(frame.length, told, now);
    } catch (error) {
      if (!(error instanceof MatrxError)) throw error;
      this.#refuseUnsent(flight, error.shape(), now);
    }
  }

  /** It did not run, and never will: its key is free. */
  #refuseUnsent(flight: Flight, error: ErrorShape, now: number): void {
    if (flight.ledgered) this.#ledger.close(flight.call, "expired", error.code, now);
    this.refuse(flight, error);
  }

  /** The device answered. */
  result(header: ResultHeader, body: Uint8Array, now: number): void {
    const flight = this.flights.take(header.call);
    const answer = checkedAnswer({ header, body }, { id: flight?.id, device: this.#device() });
    this.#noteProof(answer.header, flight, now);
    for (const recipient of flight?.recipients ?? [])
      recipient.result(answer.header, answer.body, flight?.missed ?? 0);
    this.#settled(header.call);
    if (flight && !flight.ledgered) return;
    const isOurs = flight !== undefined || this.#isKnown(header.call, now);
    const isKept = !isOurs || this.#ledger.finish(answer.header, answer.body, now);
    if (isKept) this.#acks.push(header.call);
  }

  /** Live output of a call; it may be left out, and then a gap is said. Of those who came later, streams alone get it. */
  output({ call }: OutputHeader, body: Uint8Array): void {
    const flight = this.flights.get(call);
    const [recipient, ...others] = flight?.recipients ?? [];
    if (!flight || !recipient) return;
    if (!isOutputOf(body, flight.id)) return void flight.missed++;
    if (recipient.output(body, flight.missed)) flight.missed = 0;
    else flight.missed++;
    for (const other of others) other.output(body, 0);
  }

  /** Gives the one answer to a call here; the device's own comes too late then. */
  refuse(flight: Flight, error: ErrorShape): void {
    this.#giveUp(flight);
    for (const recipient of flight.recipients) recipient.refuse(error, flight.call);
  }

  /** Asks the device to stop a call. A bare device knows no such word: its caller is answered here. */
  cancel(call: CallId): void {
    const flight = this.flights.get(call);
    if (flight?.unsent) {
      const message = "Cancelled before it was sent: it did not run";
      return this.#refuseUnsent(flight, { code: "CANCELLED", message, hop: "relay" }, Date.now());
    }
    if (this.stop(call) || !flight) return;
    this.refuse(flight, {
      code: "CANCELLED",
      message: "Cancelled; the device may still finish what it started",
      hop: "relay",
    });
  }

  /** False: the link is down, or the device knows no such word. */
  stop(call: CallId): boolean {
    const ours = this.#link.current?.attachment.ours ?? false;
    return ours && this.#link.send({ type: "tool_cancel", tool_call_id: call });
  }

  /** A caller went away. When it was the last who waited, its call stops or goes on; an effect's outcome is kept. */
  abandon(call: CallId, left: (recipient: Recipient) => boolean, stop: boolean): void {
    const flight = this.flights.get(call);
    if (!flight) return;
    flight.recipients = flight.recipients.filter((recipient) => !left(recipient));
    if (flight.recipients.length > 0) return;
    // Of a read with a row, somebody was sent away to its address.
    const awaited = flight.effect === "read" && flight.ledgered;
    if (stop && !awaited) this.cancel(call);
    if (!flight.ledgered) this.#giveUp(flight);
  }

  /** Fetches an outcome that only the agent's journal holds. */
  replay(recorded: RecordedCall, recipient: Recipient, now: number): void {
    const { call, tool } = recorded;
    const frame = replayFrame(call, tool);
    const socket = this.#link.current;
    if (!socket?.attachment.ours) {
      const error = offline("The outcome is in the device's journal, and the device is offline");
      return recipient.refuse(error.shape(), call);
    }
    const fetching = { effect: "read" as const, created: now, deadline: now + TIMES.callDefault, frame };
    const flight: Flight = { ...recorded, ...fetching, ledgered: false, recipients: [], missed: 0 };
    this.#takeUp(flight, recipient);
    if (this.#signs.isDue(now)) this.#sendAfterSign(flight, frame, now);
    else this.#sendNow(flight, frame, socket, now);
  }

  /** Waits again for a call that runs on, though everyone who waited had left and the object slept. */
  rejoin(recorded: RecordedCall, recipient: Recipient): void {
    this.#takeUp({ ...recorded, ledgered: true, recipients: [], missed: 0 }, recipient);
  }

  #takeUp(flight: Flight, recipient: Recipient): void {
    follow(flight, recipient);
    this.flights.add(flight);
  }

  /** Ends the calls of a revoked grant: they are answered no more. */
  revoke(grant: GrantId): void {
    for (const flight of this.flights.all()) {
      if (flight.grant !== grant) continue;
      if (flight.unsent) this.#refuseUnsent(flight, revokedGrant(), Date.now());
      else {
        this.stop(flight.call);
        this.refuse(flight, revokedGrant());
      }
    }
    const told = this.#link.current?.attachment.ours && this.#link.send({ type: "session_end", grant });
    if (!told && this.#store.record?.identity.kind === "agent") this.#store.noteEnded(grant);
  }

  /** Tells the agent which grants went while it was away. */
  tellEnded(): void {
    for (const grant of this.#store.takeEnded()) this.#link.send({ type: "session_end", grant });
  }

  /** The device is no more: every call gets this answer. */
  endAll(error: ErrorShape): void {
    for (const flight of this.flights.all()) this.refuse(flight, error);
  }

  get hasAcks(): boolean {
    return this.#acks.length > 0;
  }

  /** Tells the agent which outcomes are durable; the platform holds the frame until they are. */
  flushAcks(): void {
    if (this.#acks.length === 0) return;
    this.#ledger.flush();
    if (this.#ledger.isUnsaved) return;
    const tool_call_ids = this.#acks;
    this.#acks = [];
    if (this.#link.current?.attachment.ours) this.#link.reply({ type: "result_ack", tool_call_ids });
  }

  /** The last real answer of the device. */
  get proof(): Proof | null {
    const { at, verdict, tool, ms } = this.#proof;
    if (at === 0) return null;
    return { at: new Date(at).toISOString(), verdict, tool, ms };
  }

  /** After a sleep. */
  restoreProof(proof: Proof | null): void {
    if (proof) Object.assign(this.#proof, proof, { at: Date.parse(proof.at) });
  }

  #device(): DeviceId {
    return this.#store.record?.id ?? ("" as DeviceId);
  }

  #giveUp({ call }: Flight): void {
    this.flights.take(call);
    this.#settled(call);
    if (this.#givenUp.size >= LIMITS.unansweredPerDevice) this.#givenUp.clear();
    this.#givenUp.add(call);
  }

  #noteProof({ status, tool, ms }: ResultHeader, flight: Flight | undefined, now: number): void {
    const proof = this.#proof;
    proof.at = now;
    proof.verdict = status;
    proof.tool = flight?.tool || (tool ?? "");
    proof.ms = ms;
  }

  /** An answer that nobody waits for: to a call with a row, to one that was given up, or to one that was never given. */
  #isKnown(call: string, now: number): boolean {
    if (this.#ledger.find(call as CallId)) return true;
    if (this.#givenUp.delete(call)) return false;
    this.strays.add(now);
    return false;
  }
}

function droppedOut(): MatrxError {
  return offline("The device dropped out before the call was sent");
}

/** A call's life while all goes well: sent, answered once, cancelled, left. For the rest see `recovery.ts`. */
import type { Proof } from "@matrx/shared/api.ts";
import { type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";
import { type CallId, type DeviceId, type GrantId, makeCallId } from "@matrx/shared/ids.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import type { OutputHeader, ResultHeader } from "@matrx/shared/result-frame.ts";
import { Tally } from "../../tally.ts";
import { type DeviceLink, type DeviceSocket, offlineError } from "../connection.ts";
import { revokedGrant } from "../leases.ts";
import { requireWithinLimits } from "../link/bare-limits.ts";
import { checkedAnswer, isOutputOf } from "../link/device-answer.ts";
import { type Sign, type SignOfLife, silent } from "../link/sign-of-life.ts";
import type { RecordStore } from "../store.ts";
import type { Expect, Keyed, Passed, WantedCall } from "./call.ts";
import { executeFrame, extrasOf, replayFrame } from "./execute-frame.ts";
import type { Ledger } from "./ledger.ts";
import { follow, type PendingCall, PendingCalls } from "./pending.ts";
import type { Recipient } from "./types.ts";

/** A call by its record: it was made before, and what is known of it stands in the ledger. */
export type RecordedCall = Pick<PendingCall, "call" | "tool" | "effect" | "grant" | "created" | "deadline">;

/** A proof as it is noted for each answer; its time is put in words only when somebody looks. */
interface LastAnswer {
  at: number;
  verdict: Proof["verdict"];
  tool: string;
  ms: number;
}

export class Calls {
  readonly pendingCalls = new PendingCalls();
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
    if (!ours) requireWithinLimits(tool, wanted.parameters, wanted.lease.scope, this.#store.policy);
    const extras = ours ? extrasOf(wanted, keyed, this.#store.limits, called) : "";
    const frame = executeFrame(call, tool, timeoutMs, wanted.parameters, extras);
    const ledgered = effect !== "read";
    const grant = wanted.lease.scope.id as GrantId;
    if (ledgered) {
      const { key, digest } = keyed ?? { key: null, digest: null };
      this.#ledger.open({ call, grant, tool, effect, key, digest, created: now, deadline });
    }
    const pending: PendingCall = {
      call,
      tool,
      id: wanted.id,
      effect,
      grant,
      created: now,
      deadline,
      recipients: [expect(call, deadline, effect)],
      ledgered,
      frame: this.pendingCalls.keepable(frame),
      missed: 0,
    };
    this.pendingCalls.add(pending);
    if (this.#signs.isDue(now)) this.#sendAfterSign(pending, frame, now);
    else this.#sendNow(pending, frame, socket, now);
    return call;
  }

  #sendNow(pending: PendingCall, frame: string, socket: DeviceSocket, now: number): void {
    pending.unsent = false;
    try {
      this.#link.sendTo(socket, frame);
    } catch {
      this.#refuseUnsent(
        pending,
        offlineError("The device's connection broke while the call was being sent").shape(),
        now,
      );
    }
  }

  #sendAfterSign(pending: PendingCall, frame: string, now: number): void {
    pending.unsent = true;
    const told = (sign: Sign, at: number) => {
      if (sign === "replaced" || this.pendingCalls.get(pending.call) !== pending) return;
      const { current } = this.#link;
      if (sign === "alive" && current) this.#sendNow(pending, frame, current, at);
      else this.#refuseUnsent(pending, (current ? silent() : droppedOut()).shape(), at);
    };
    try {
      this.#signs.wait(frame.length, told, now);
    } catch (error) {
      if (!(error instanceof MatrxError)) throw error;
      this.#refuseUnsent(pending, error.shape(), now);
    }
  }

  /** It did not run, and never will: its key is free. */
  #refuseUnsent(pending: PendingCall, error: ErrorShape, now: number): void {
    if (pending.ledgered) this.#ledger.close(pending.call, "expired", error.code, now);
    this.refuse(pending, error);
  }

  /** The device answered. */
  result(header: ResultHeader, body: Uint8Array, now: number): void {
    const pending = this.pendingCalls.take(header.call);
    const answer = checkedAnswer({ header, body }, { id: pending?.id, device: this.#device() });
    this.#noteProof(answer.header, pending, now);
    for (const recipient of pending?.recipients ?? [])
      recipient.result(answer.header, answer.body, pending?.missed ?? 0);
    this.#settled(header.call);
    if (pending && !pending.ledgered) return;
    const isOurs = pending !== undefined || this.#isKnown(header.call, now);
    const isKept = !isOurs || this.#ledger.finish(answer.header, answer.body, now);
    if (isKept) this.#acks.push(header.call);
  }

  /** Live output of a call; it may be left out, and then a gap is said. Of those who came later, streams alone get it. */
  output({ call }: OutputHeader, body: Uint8Array): void {
    const pending = this.pendingCalls.get(call);
    const [recipient, ...others] = pending?.recipients ?? [];
    if (!pending || !recipient) return;
    if (!isOutputOf(body, pending.id)) return void pending.missed++;
    if (recipient.output(body, pending.missed)) pending.missed = 0;
    else pending.missed++;
    for (const other of others) other.output(body, 0);
  }

  /** Gives the one answer to a call here; the device's own comes too late then. */
  refuse(pending: PendingCall, error: ErrorShape): void {
    this.#giveUp(pending);
    for (const recipient of pending.recipients) recipient.refuse(error, pending.call);
  }

  /** Asks the device to stop a call. A bare device knows no such word: its caller is answered here. */
  cancel(call: CallId): void {
    const pending = this.pendingCalls.get(call);
    if (pending?.unsent) {
      const message = "Cancelled before it was sent: it did not run";
      return this.#refuseUnsent(pending, { code: "CANCELLED", message, hop: "relay" }, Date.now());
    }
    if (this.stop(call) || !pending) return;
    this.refuse(pending, {
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
    const pending = this.pendingCalls.get(call);
    if (!pending) return;
    pending.recipients = pending.recipients.filter((recipient) => !left(recipient));
    if (pending.recipients.length > 0) return;
    // Of a read with a row, somebody was sent away to its address.
    const awaited = pending.effect === "read" && pending.ledgered;
    if (stop && !awaited) this.cancel(call);
    if (!pending.ledgered) this.#giveUp(pending);
  }

  /** Fetches an outcome that only the agent's journal holds. */
  replay(recorded: RecordedCall, recipient: Recipient, now: number): void {
    const { call, tool } = recorded;
    const frame = replayFrame(call, tool);
    const socket = this.#link.current;
    if (!socket?.attachment.ours) {
      const error = offlineError("The outcome is in the device's journal, and the device is offline");
      return recipient.refuse(error.shape(), call);
    }
    const fetching = { effect: "read" as const, created: now, deadline: now + TIMES.callDefault, frame };
    const pending: PendingCall = { ...recorded, ...fetching, ledgered: false, recipients: [], missed: 0 };
    this.#takeUp(pending, recipient);
    if (this.#signs.isDue(now)) this.#sendAfterSign(pending, frame, now);
    else this.#sendNow(pending, frame, socket, now);
  }

  /** Waits again for a call that runs on, though everyone who waited had left and the object slept. */
  rejoin(recorded: RecordedCall, recipient: Recipient): void {
    this.#takeUp({ ...recorded, ledgered: true, recipients: [], missed: 0 }, recipient);
  }

  #takeUp(pending: PendingCall, recipient: Recipient): void {
    follow(pending, recipient);
    this.pendingCalls.add(pending);
  }

  /** Ends the calls of a revoked grant: they are answered no more. */
  revoke(grant: GrantId): void {
    for (const pending of this.pendingCalls.all()) {
      if (pending.grant !== grant) continue;
      if (pending.unsent) this.#refuseUnsent(pending, revokedGrant(), Date.now());
      else {
        this.stop(pending.call);
        this.refuse(pending, revokedGrant());
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
    for (const pending of this.pendingCalls.all()) this.refuse(pending, error);
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

  #giveUp({ call }: PendingCall): void {
    this.pendingCalls.take(call);
    this.#settled(call);
    if (this.#givenUp.size >= LIMITS.unansweredPerDevice) this.#givenUp.clear();
    this.#givenUp.add(call);
  }

  #noteProof({ status, tool, ms }: ResultHeader, pending: PendingCall | undefined, now: number): void {
    const proof = this.#proof;
    proof.at = now;
    proof.verdict = status;
    proof.tool = pending?.tool || (tool ?? "");
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
  return offlineError("The device dropped out before the call was sent");
}

/** What becomes of calls when the link drops, the device dies, or an answer does not come. */
import type { DeviceRegister } from "@matrx/shared/device-frames.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import { type CallId, callTime, type DeviceId, isCallId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { outcomeUnknown } from "../../refusals.ts";
import { type DeviceLink, offline } from "../connection.ts";
import type { Calls } from "./calls.ts";
import type { Ledger } from "./ledger.ts";
import type { Flight } from "./pending.ts";

/** What the agent's journal knows of a call. */
export interface CallStatus {
  tool_call_id: string;
  state: "never" | "started" | "finished" | "unknown";
}

/** Records may go this much earlier than their time, in milliseconds: a clock was set, or a caller chose the name. */
const PRUNED_EARLY = 60 * 60_000;

export class Recovery {
  readonly #device: () => DeviceId;
  readonly #calls: Calls;
  readonly #link: DeviceLink;
  readonly #ledger: Ledger;
  /** When the link went down, while calls wait for it. */
  #downSince: number | undefined;

  constructor(device: () => DeviceId, calls: Calls, link: DeviceLink, ledger: Ledger) {
    this.#device = device;
    this.#calls = calls;
    this.#link = link;
    this.#ledger = ledger;
  }

  linkDown(now: number): void {
    if (this.#calls.flights.size > 0) this.#downSince = now;
  }

  /** The device is back. Reads run again; of effects it is asked what became of them. */
  linkUp(ours: boolean, journalIsNew: boolean, now: number): void {
    this.#downSince = undefined;
    if (journalIsNew) this.#journalLost(now);
    for (const flight of this.#calls.flights.all()) if (!flight.ledgered) this.#sendAgain(flight);
    const open = ours ? this.#ledger.openCalls() : [];
    if (open.length > 0) this.#link.send({ type: "call_status", tool_call_ids: open });
  }

  /** Tells whether the device knows of records that are not here any more: a disk lost them, or a backup is older. */
  lostRecords(
    { ledger_id, last_calls = [] }: Pick<DeviceRegister, "ledger_id" | "last_calls">,
    ledgerId: string | undefined,
    now: number,
  ): boolean {
    if (ledger_id === undefined || ledgerId === undefined) return false;
    const isKept = (call: string) =>
      isCallId(call) && callTime(call) > now - TIMES.outcomeKept + PRUNED_EARLY;
    const lost = last_calls.filter((call) => isKept(call) && !this.#ledger.find(call as CallId));
    if (ledger_id === ledgerId && lost.length === 0) return false;
    const such = lost.length > 0 ? `, such as ${lost.join(", ")}` : "";
    console.error(`device ${this.#device()}: the storage lost records of calls${such}`);
    return true;
  }

  /** The agent's journal tells what became of calls; those that began or ended answer by themselves. */
  status(calls: readonly CallStatus[], now: number): void {
    for (const { tool_call_id, state } of calls) {
      const call = tool_call_id as CallId;
      if (state === "never") this.#neverRan(call, now);
      else if (state === "unknown") this.#unknown(call, "The device stopped while the call was running", now);
    }
  }

  /** Ends what is past its time. */
  sweep(now: number): void {
    const gone = this.#downSince !== undefined && now - this.#downSince >= TIMES.reconnectGrace;
    if (gone) this.#downSince = undefined;
    for (const flight of this.#calls.flights.all()) {
      if (gone) this.#droppedOut(flight);
      else if (flight.waitsForReaders) continue;
      else if (now >= flight.deadline + TIMES.deadlineGrace)
        this.#overdue(
          flight,
          "The device did not answer in time",
          "Try again, or allow more time with timeout_ms",
        );
      else this.#sendAway(flight, now);
    }
  }

  /** When `sweep` has something to do next, in milliseconds since 1970. */
  nextSweep(): number | undefined {
    let next =
      this.#downSince === undefined ? Number.POSITIVE_INFINITY : this.#downSince + TIMES.reconnectGrace;
    for (const { deadline, recipients, waitsForReaders } of this.#calls.flights.all()) {
      if (waitsForReaders) continue;
      next = Math.min(next, deadline + TIMES.deadlineGrace);
      for (const { waitsUntil } of recipients) next = Math.min(next, waitsUntil ?? next);
    }
    return Number.isFinite(next) ? next : undefined;
  }

  outcomeUnknown(call: CallId, message: string): ErrorShape {
    return outcomeUnknown(this.#device(), call, message);
  }

  #sendAgain(flight: Flight): void {
    flight.unsent = false;
    if (flight.frame) this.#link.send(flight.frame);
    else this.#calls.refuse(flight, offline("The device disconnected before it answered").shape());
  }

  #neverRan(call: CallId, now: number): void {
    const flight = this.#calls.flights.get(call);
    if (flight) flight.unsent = false;
    if (flight?.frame && flight.deadline > now && this.#link.send(flight.frame)) return;
    this.#ledger.close(call, "expired", "DEVICE_OFFLINE", now);
    if (!flight) return;
    const { code, message, hop } = offline("The device disconnected before the call reached it");
    this.#calls.refuse(flight, { code, message, hint: "It did not run: send it again", hop });
  }

  #unknown(call: CallId, why: string, now: number): void {
    this.#ledger.close(call, "unknown", "OUTCOME_UNKNOWN", now);
    const flight = this.#calls.flights.get(call);
    if (flight) this.#calls.refuse(flight, this.outcomeUnknown(call, why));
  }

  #journalLost(now: number): void {
    for (const call of this.#ledger.openCalls())
      this.#unknown(call, "The device lost its record of the call", now);
    this.#ledger.forgetJournal();
  }

  #droppedOut(flight: Flight): void {
    const { call, ledgered } = flight;
    if (ledgered)
      this.#calls.refuse(
        flight,
        this.outcomeUnknown(call, "The device disconnected while the call was running"),
      );
    else this.#calls.refuse(flight, offline("The device disconnected before it answered").shape());
  }

  /** Its readers took nothing for as long as an answer waits. */
  unread(flight: Flight): void {
    this.#overdue(flight, "The answer was not read in time", "Read the answers that came before it");
  }

  #overdue(flight: Flight, message: string, hint: string): void {
    this.#calls.stop(flight.call);
    if (flight.ledgered) this.#calls.refuse(flight, this.outcomeUnknown(flight.call, message));
    else this.#calls.refuse(flight, { code: "TIMEOUT", message, hint, hop: "relay" });
  }

  /** A REST caller has waited long enough and goes away with the call's name: now its outcome must be kept. */
  #sendAway(flight: Flight, now: number): void {
    const isOver = ({ waitsUntil }: { waitsUntil?: number | undefined }) =>
      waitsUntil !== undefined && now >= waitsUntil;
    const leaving = flight.recipients.filter(isOver);
    // Without a record they have to wait.
    if (leaving.length === 0 || (!flight.ledgered && this.#ledger.takesNoRows)) return;
    if (!flight.ledgered && !this.#ledger.find(flight.call))
      this.#ledger.open({ ...flight, key: null, digest: null });
    flight.ledgered = true;
    flight.recipients = flight.recipients.filter((recipient) => !isOver(recipient));
    for (const recipient of leaving) recipient.sendAway(flight.call);
  }
}

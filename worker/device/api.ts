/** What callers request of a device over HTTP. Each request runs under a lease of its caller's grant. */
import { DurableObject } from "cloudflare:workers";
import type { CallList, CallQuery, CallView, DeviceView, EventList, EventQuery } from "@matrx/shared/api.ts";
import type { ApprovalDetail, Decision } from "@matrx/shared/approval.ts";
import { noSuchCallError } from "@matrx/shared/caller/calls.ts";
import type {
  BytesAnswer,
  DeviceTools,
  GuideAnswer,
  OpenStream,
  OpenTools,
  RestAnswer,
  SentBytes,
  WantedCall,
} from "@matrx/shared/caller/port.ts";
import type { SystemCommand } from "@matrx/shared/device-frames.ts";
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import { eventRefusal } from "@matrx/shared/events.ts";
import type { AccountId, CallId, GrantId } from "@matrx/shared/ids.ts";
import type { WantedView } from "@matrx/shared/model-view.ts";
import { type Policy, policyWarnings } from "@matrx/shared/policy.ts";
import type { ExplainWish, Explanation } from "@matrx/shared/policy-explain.ts";
import type { Caller } from "../auth/caller.ts";
import { attempt, type Outcome, unwrap } from "../outcome.ts";
import { noSuchTokenError, unknownDeviceError } from "../refusals.ts";
import { lostRecordError } from "../storage-failure.ts";
import type { Approvals } from "./approvals/approvals.ts";
import type { Person } from "./approvals/decisions.ts";
import type { Admission } from "./callers/admission.ts";
import type { BytesCalls } from "./callers/bytes.ts";
import type { Followers } from "./callers/followers.ts";
import { type RestCalls, requireMaker } from "./callers/rest.ts";
import type { WatchedCall } from "./callers/watched-call.ts";
import type { Calls } from "./calls/calls.ts";
import type { ChangedRights } from "./calls/changed-rights.ts";
import { explainCall } from "./calls/explain.ts";
import { allowedTools, openTools, toolNames, unreadablePolicy } from "./calls/gate.ts";
import { callView, listCalls } from "./calls/views.ts";
import type { DeviceContext, DeviceEnv } from "./context.ts";
import type { Lease, LeasedCaller } from "./leases.ts";
import { callApprovalOf } from "./ledger/approval-rows.ts";
import { byOf, policyDraft } from "./observing/drafts.ts";
import { type Sign, silent } from "./sign-of-life.ts";
import type { DeviceRecord } from "./store.ts";

export type Command = SystemCommand["command"];

/** The parts that make and follow calls over HTTP. */
export interface Surfaces {
  readonly calls: Calls;
  readonly rights: ChangedRights;
  readonly admission: Admission;
  readonly approvals: Approvals;
  readonly rest: RestCalls;
  readonly bytes: BytesCalls;
  readonly followers: Followers;
}

/** The part of a Device object that its callers reach: the Worker by RPC, and MCP in the object itself. */
export abstract class DeviceApi extends DurableObject<DeviceEnv> {
  protected abstract readonly context: DeviceContext;
  protected abstract readonly surfaces: Surfaces;

  /**
   * Keeps accounts apart even if the Worker was wrong. Throws MatrxError: `UNKNOWN_DEVICE`, or `UNAVAILABLE` if the
   * account has the device, which means that its record here was lost.
   */
  async requireRecord(account: AccountId): Promise<DeviceRecord> {
    const own = this.#recordOf(account);
    if (own) return own;
    const { store, name, env } = this.context;
    const isLost = !store.record && (await env.ACCOUNT.getByName(account).hasDevice(name));
    throw isLost ? lostRecordError(name) : unknownDeviceError(name);
  }

  #recordOf(account: AccountId): DeviceRecord | undefined {
    const { record } = this.context.store;
    return record?.account === account ? record : undefined;
  }

  /** A caller of another protocol, whose requests then count for themselves. Throws MatrxError. */
  async admit(caller: Caller): Promise<void> {
    unwrap(await this.#leased(caller, () => undefined));
  }

  /** For a caller that has already been checked. */
  viewOf(record: DeviceRecord): DeviceView {
    return deviceView(record, this.context, Date.now());
  }

  viewFor(caller: Caller): Promise<Outcome<DeviceView>> {
    return this.#counted(caller, () => this.viewOf(this.context.record));
  }

  /** Only the owner may see the policy: it names folders and applications that must stay hidden from tokens. */
  policy(caller: Caller): Promise<Outcome<Policy>> {
    return this.#counted(caller, ({ scope }) => {
      const { policy, isPolicyReadable } = this.context.store;
      if (scope.owner && !isPolicyReadable) throw unreadablePolicy();
      if (scope.owner) return policy;
      throw relayError("PERMISSION_DENIED", "Only the owner can see a device's policy", {
        hint: "GET /v1/devices/DEVICE/tools?format=mcp&tools=all lists what this token may call; errors name the limit",
      });
    });
  }

  /** What would become of a call, by `grant` if given: the Account has checked then that a person is asking. */
  explain(caller: Caller, { tool, input = {}, grant }: ExplainWish): Promise<Outcome<Explanation>> {
    return this.#leased(caller, async (lease) => {
      const { store, link } = this.context;
      this.surfaces.admission.message(lease, Date.now());
      const { scope } = grant ? await this.#leaseOf(grant as GrantId) : lease;
      const connection = link.current?.attachment;
      return explainCall({ name: tool, input, grant: scope, asker: lease.scope, store, link: connection });
    });
  }

  /** Of a grant that somebody names: that it ended says nothing of the caller's own. */
  async #leaseOf(grant: GrantId): Promise<Lease> {
    const { leases, record } = this.context;
    try {
      return await leases.ask(record.account, grant, record.id);
    } catch (error) {
      throw error instanceof MatrxError && error.code === "UNAUTHENTICATED" ? noSuchTokenError() : error;
    }
  }

  /**
   * The Account has checked that a person is asking. Takes effect at once; the device is told if it is connected. Returns
   * warnings.
   */
  setPolicy({ grant }: Caller, policy: Policy): Promise<Outcome<string[]>> {
    return attempt(() => {
      const { store, link, name, audit, leases } = this.context;
      if (!store.record) throw unknownDeviceError(name);
      const announced = store.manifest?.tools.map((tool) => tool.name);
      const warnings = announced ? policyWarnings(policy, announced) : [];
      if (JSON.stringify(policy) === JSON.stringify(store.policy)) return warnings;
      const former = store.policy;
      store.setPolicy(policy);
      const now = Date.now();
      audit.keep(policyDraft(policy, byOf(grant, leases.current(grant, now)?.holder), name, now), now);
      this.surfaces.rights.policyChanged(now, former);
      this.context.onToolsChanged();
      link.send(this.#commandFrame("update_permissions", "The policy at the relay has changed"));
      return warnings;
    });
  }

  tools(caller: Caller): Promise<Outcome<DeviceTools>> {
    return this.#counted(caller, ({ scope }) => {
      const { store } = this.context;
      return { hash: store.manifest?.hash ?? null, tools: allowedTools(scope, store) };
    });
  }

  toolNames(caller: Caller): Promise<Outcome<string[]>> {
    return this.#counted(caller, ({ scope }) => toolNames(scope, this.context.store));
  }

  openTools(caller: Caller, view?: WantedView): Promise<Outcome<OpenTools>> {
    return this.#counted(caller, ({ scope }) => {
      const { store, record } = this.context;
      const { os = null, os_version = null } = store.deviceInfo ?? {};
      // Without a shell the working directory never leaves where sessions begin, which may be outside the allowed folders.
      const folders = scope.paths ?? store.policy.allowed_paths ?? null;
      const machine = { name: record.name, os, os_version, folders };
      return { machine, hash: store.manifest?.hash ?? null, ...openTools(scope, store, view) };
    });
  }

  /** A call's answer, or `pending` after 60 seconds. */
  call(caller: Caller, wanted: WantedCall): Promise<Outcome<RestAnswer>> {
    return this.#calling(caller, (by, now) => this.surfaces.rest.call(wanted, by, now));
  }

  callForBytes(caller: Caller, wanted: WantedCall, needs?: string): Promise<Outcome<BytesAnswer>> {
    return this.#calling(caller, (by, now) => this.surfaces.bytes.call(wanted, by, now, needs));
  }

  callWithBytes(
    caller: Caller,
    wanted: WantedCall,
    bytes: ReadableStream<Uint8Array> | undefined,
  ): Promise<Outcome<SentBytes>> {
    return this.#calling(caller, (by, now) => this.surfaces.bytes.send(wanted, by, bytes, now));
  }

  /** A call of a tool that takes bytes and sends bytes at the same time. */
  exchange(
    caller: Caller,
    wanted: WantedCall,
    bytes: ReadableStream<Uint8Array> | undefined,
  ): Promise<Outcome<BytesAnswer>> {
    return this.#calling(caller, (by) => this.surfaces.bytes.exchange(wanted, by, bytes));
  }

  /** The same as `call` on the guide's route: a slow call's response begins before the call ends. */
  callByGuide(caller: Caller, wanted: WantedCall): Promise<Outcome<GuideAnswer>> {
    return this.#calling(caller, (by, now) => this.surfaces.rest.callByGuide(wanted, by, now));
  }

  streamCall(caller: Caller, wanted: WantedCall): Promise<Outcome<OpenStream>> {
    return this.#calling(caller, (by, now) => this.surfaces.followers.streamCall(wanted, by, now));
  }

  attach(caller: Caller, call: CallId, waitMs?: number): Promise<Outcome<OpenStream>> {
    return this.#calling(caller, (by, now) => {
      this.context.pause.requireOpen(by.lease.scope);
      return this.surfaces.followers.streamEarlier({ call, waitMs }, by, now);
    });
  }

  /** The two above for a reader in this object: no RPC. */
  watchCall(caller: Caller, wanted: WantedCall, watched: WatchedCall): Promise<Outcome<void>> {
    return this.#calling(caller, (by, now) => this.surfaces.followers.watchCall(wanted, by, watched, now));
  }

  watchEarlier(caller: Caller, call: CallId, waitMs: number, watched: WatchedCall): Promise<Outcome<void>> {
    return this.#calling(caller, (by, now) => {
      this.context.pause.requireOpen(by.lease.scope);
      this.surfaces.followers.watchEarlier({ call, waitMs }, by, watched, now);
    });
  }

  readCall(caller: Caller, call: CallId): Promise<Outcome<CallView>> {
    return this.#unpaused(caller, (lease) => {
      const { ledger, approvals, device } = this.context;
      const row = ledger.find(call);
      if (!row) throw noSuchCallError();
      requireMaker(row.grant_id, lease);
      return callView(row, device, callApprovalOf(approvals.ofCall(call)));
    });
  }

  listCalls(caller: Caller, query: CallQuery): Promise<Outcome<CallList>> {
    return this.#unpaused(caller, (lease) => {
      const { calls } = this.surfaces;
      const { ledger, device } = this.context;
      return listCalls({ device, pendingCalls: calls.pendingCalls, ledger }, lease, query);
    });
  }

  cancelCall(caller: Caller, call: CallId): Promise<Outcome<void>> {
    return this.#counted(caller, (lease) => {
      this.#requireMaker(call, lease);
      this.surfaces.calls.cancel(call);
    });
  }

  /** One of those who wait for a call no longer wants it. */
  cancelUnshared(caller: Caller, call: CallId): Promise<Outcome<boolean>> {
    return this.#counted(caller, (lease) => {
      this.#requireMaker(call, lease);
      const isShared = (this.surfaces.calls.pendingCalls.get(call)?.recipients.length ?? 0) > 1;
      if (!isShared) this.surfaces.calls.cancel(call);
      return !isShared;
    });
  }

  #requireMaker(call: CallId, lease: Lease): void {
    const pending = this.surfaces.calls.pendingCalls.get(call);
    requireMaker(pending?.grant ?? this.context.ledger.find(call)?.grant_id, lease);
  }

  /** The Account has checked that a person is asking. */
  approval(caller: Caller, id: string): Promise<Outcome<ApprovalDetail>> {
    return this.#leased(caller, () => this.surfaces.approvals.view(id));
  }

  /** The same check applies. */
  decide(caller: Caller, id: string, decision: Decision, person: Person): Promise<Outcome<ApprovalDetail>> {
    return this.#leased(caller, () => this.surfaces.approvals.decide(id, decision, person));
  }

  events(caller: Caller, { after, limit }: EventQuery): Promise<Outcome<EventList>> {
    return this.#unpaused(caller, (lease) => {
      const { events, device } = this.context;
      const refusal = eventRefusal(lease.scope);
      if (refusal) throw new MatrxError(refusal);
      return { device, events: events.list(after, limit), dropped: events.dropped };
    });
  }

  /** The Account has checked that a person is asking. */
  command(caller: Caller, command: Command, reason: string | undefined): Promise<Outcome<void>> {
    return this.#counted(caller, async () => {
      const { link, signs, device } = this.context;
      await this.#requireSign(Date.now());
      link.sendTo(signs.requireLive(Date.now()), JSON.stringify(this.#commandFrame(command, reason)));
      console.info(`device ${device} was sent ${command} by ${caller.grant}`);
    });
  }

  #commandFrame(command: Command, reason: string | undefined): SystemCommand {
    return {
      type: "system_command",
      command,
      ...(reason !== undefined && { reason }),
      ...(command === "update_permissions" && { permissions: this.context.store.permissions }),
    };
  }

  /** Waits for a sign of life if the device has been silent. Throws MatrxError `DEVICE_OFFLINE` if none comes. */
  async #requireSign(now: number): Promise<void> {
    const { signs } = this.context;
    signs.requireLive(now);
    if (!signs.isDue(now)) return;
    const sign = await new Promise<Sign>((resolve) => signs.wait(0, resolve, now));
    if (sign === "silent") throw silent();
  }

  #calling<T>(caller: Caller, start: (by: LeasedCaller, now: number) => T | Promise<T>): Promise<Outcome<T>> {
    return this.#leased(caller, (lease) => {
      const now = Date.now();
      const started = start({ lease, guest: caller.guest }, now);
      this.context.callStarted(now);
      return started;
    });
  }

  /** A request that makes no call is a message of its grant. */
  #counted<T>(caller: Caller, answer: (lease: Lease) => T | Promise<T>): Promise<Outcome<T>> {
    return this.#leased(caller, (lease) => {
      this.surfaces.admission.message(lease, Date.now());
      return answer(lease);
    });
  }

  /** While the account is paused, an AI grant learns nothing of what happens on the device. */
  #unpaused<T>(caller: Caller, answer: (lease: Lease) => T): Promise<Outcome<T>> {
    return this.#counted(caller, (lease) => {
      this.context.pause.requireOpen(lease.scope);
      return answer(lease);
    });
  }

  #leased<T>(caller: Caller, answer: (lease: Lease) => T | Promise<T>): Promise<Outcome<T>> {
    return attempt(() => {
      const lease = this.#recordOf(caller.account) && this.#currentLease(caller);
      return lease ? answer(lease) : this.#askedLease(caller).then(answer);
    });
  }

  #currentLease({ grant, guest }: Caller): Lease | undefined {
    const { leases } = this.context;
    if (guest) leases.requireNotRevoked(guest.grant);
    return leases.current(grant, Date.now());
  }

  async #askedLease(caller: Caller): Promise<Lease> {
    const { account, id } = await this.requireRecord(caller.account);
    return this.#currentLease(caller) ?? (await this.context.leases.ask(account, caller.grant, id));
  }
}

function deviceView(
  record: DeviceRecord,
  { store, link, events, proof }: DeviceContext,
  now: number,
): DeviceView {
  const { deviceInfo, lastSeen: before } = store;
  const lastSeen = link.lastSign() ?? before?.last_seen;
  return {
    id: record.id,
    name: record.name,
    kind: record.identity.kind,
    state: deviceInfo ? link.state(now) : "UNKNOWN",
    last_seen: lastSeen === undefined ? null : new Date(lastSeen).toISOString(),
    proof: proof.view ?? before?.proof ?? null,
    hostname: deviceInfo?.hostname ?? null,
    os: deviceInfo?.os ?? null,
    os_version: deviceInfo?.os_version ?? null,
    agent_version: deviceInfo?.agent_version ?? null,
    created: new Date(record.created).toISOString(),
    tags: record.tags ?? [],
    paused: link.current?.attachment.paused ?? null,
    alerts: events.open,
    records_lost: store.recordsLost === undefined ? null : new Date(store.recordsLost).toISOString(),
  };
}

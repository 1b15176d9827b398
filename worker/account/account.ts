/** One user's devices, grants and tokens: the list of what is requested of them, by part. Written on change only. */
import { DurableObject } from "cloudflare:workers";
import type { ActivityEntry } from "@matrx/shared/activity.ts";
import type { ApprovalView } from "@matrx/shared/approval.ts";
import { closeReason, isSendable } from "@matrx/shared/close-codes.ts";
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { Grant } from "@matrx/shared/grant.ts";
import type { DeviceId, GrantId } from "@matrx/shared/ids.ts";
import { retryIn } from "@matrx/shared/retry.ts";
import type { LeaseAnswer } from "../device/leases.ts";
import { attempt, type Outcome } from "../outcome.ts";
import { problemResponse } from "../problem.ts";
import { unknownDeviceError } from "../refusals.ts";
import { authenticatedCaller } from "../socket.ts";
import { migrate } from "../storage/migrate.ts";
import { ACCOUNT } from "../storage/migrations.ts";
import { Clients } from "./clients.ts";
import { CloudFiles } from "./cloud-files.ts";
import { AccountContext, type AccountEnv } from "./context.ts";
import { DeviceReports } from "./device-reports.ts";
import { FileLinks } from "./file-links.ts";
import { GivenShares } from "./given-shares.ts";
import { Invites } from "./invites.ts";
import { ManagedDevices } from "./managed-devices.ts";
import { ManagedTokens } from "./managed-tokens.ts";
import { Membership } from "./membership.ts";
import { Notifications } from "./notifications.ts";
import { Passkeys } from "./passkeys.ts";
import { PortLinks } from "./port-links.ts";
import { ReceivedShares } from "./received-shares.ts";
import { RecoveryCodes } from "./recovery-codes.ts";
import { Sessions } from "./sessions.ts";
import { Stop } from "./stop.ts";
import { leased } from "./tokens.ts";
import { Watching } from "./watching.ts";

export class Account extends DurableObject<AccountEnv> {
  readonly #context: AccountContext;
  readonly #sessions: Sessions;
  readonly #tokens: ManagedTokens;
  readonly #fileLinks: FileLinks;
  readonly #portLinks: PortLinks;
  readonly #cloudFiles: CloudFiles;
  readonly #clients: Clients;
  readonly #passkeys: Passkeys;
  readonly #recoveryCodes: RecoveryCodes;
  readonly #stop: Stop;
  readonly #watching: Watching;
  readonly #notifications: Notifications;
  readonly #membership: Membership;
  readonly #invites: Invites;
  readonly #given: GivenShares;
  readonly #received: ReceivedShares;
  readonly #devices: ManagedDevices;
  readonly #reports: DeviceReports;

  constructor(state: DurableObjectState, env: AccountEnv) {
    super(state, env);
    migrate(state.storage, ACCOUNT);
    this.#context = new AccountContext(state, env);
    this.#sessions = new Sessions(this.#context);
    this.#tokens = new ManagedTokens(this.#context);
    this.#fileLinks = new FileLinks(this.#context);
    this.#portLinks = new PortLinks(this.#context);
    this.#cloudFiles = new CloudFiles(this.#context);
    this.#clients = new Clients(this.#context);
    this.#passkeys = new Passkeys(this.#context);
    this.#recoveryCodes = new RecoveryCodes(this.#context);
    this.#stop = new Stop(this.#context);
    this.#watching = new Watching(this.#context);
    this.#context.people.onWatch = (screen, now) => this.#watching.watch(screen, now);
    this.#notifications = new Notifications(this.#context);
    this.#membership = new Membership(this.#context);
    this.#invites = new Invites(this.#context);
    this.#given = new GivenShares(this.#context);
    this.#received = new ReceivedShares(this.#context);
    this.#devices = new ManagedDevices(this.#context, this.#received);
    this.#reports = new DeviceReports(this.#context);
  }

  /** See `Sessions`, like all of these. */
  claim(...args: Parameters<Sessions["claim"]>) {
    return this.#sessions.claim(...args);
  }

  signInByIssuer(...args: Parameters<Sessions["signInByIssuer"]>) {
    return this.#sessions.signInByIssuer(...args);
  }

  proveSession(...args: Parameters<Sessions["prove"]>) {
    return this.#sessions.prove(...args);
  }

  createLogin(...args: Parameters<Sessions["createLogin"]>) {
    return this.#sessions.createLogin(...args);
  }

  countLink(...args: Parameters<Sessions["countLink"]>) {
    return this.#sessions.countLink(...args);
  }

  signOut(...args: Parameters<Sessions["signOut"]>) {
    return this.#sessions.signOut(...args);
  }

  revokeOtherSessions(...args: Parameters<Sessions["revokeOthers"]>) {
    return this.#sessions.revokeOthers(...args);
  }

  /** See `Passkeys`, like all of these. */
  beginPasskey(...args: Parameters<Passkeys["begin"]>) {
    return this.#passkeys.begin(...args);
  }

  addPasskey(...args: Parameters<Passkeys["add"]>) {
    return this.#passkeys.add(...args);
  }

  listPasskeys(...args: Parameters<Passkeys["list"]>) {
    return this.#passkeys.list(...args);
  }

  renamePasskey(...args: Parameters<Passkeys["rename"]>) {
    return this.#passkeys.rename(...args);
  }

  removePasskey(...args: Parameters<Passkeys["remove"]>) {
    return this.#passkeys.remove(...args);
  }

  signInWithPasskey(...args: Parameters<Passkeys["signIn"]>) {
    return this.#passkeys.signIn(...args);
  }

  /** See `RecoveryCodes`, like all of these. */
  makeRecoveryCodes(...args: Parameters<RecoveryCodes["make"]>) {
    return this.#recoveryCodes.make(...args);
  }

  recoveryCodesLeft(...args: Parameters<RecoveryCodes["left"]>) {
    return this.#recoveryCodes.left(...args);
  }

  recover(...args: Parameters<RecoveryCodes["signIn"]>) {
    return this.#recoveryCodes.signIn(...args);
  }

  /** See `ManagedTokens`, like all of these. */
  createToken(...args: Parameters<ManagedTokens["create"]>) {
    return this.#tokens.create(...args);
  }

  keepToken(...args: Parameters<ManagedTokens["keep"]>) {
    return this.#tokens.keep(...args);
  }

  keepsToken(...args: Parameters<ManagedTokens["keeps"]>) {
    return this.#tokens.keeps(...args);
  }

  createFileLink(...args: Parameters<FileLinks["create"]>) {
    return this.#fileLinks.create(...args);
  }

  createPortLink(...args: Parameters<PortLinks["create"]>) {
    return this.#portLinks.create(...args);
  }

  enterPort(...args: Parameters<PortLinks["enter"]>) {
    return this.#portLinks.enter(...args);
  }

  portVisit(...args: Parameters<PortLinks["visit"]>) {
    return this.#portLinks.visit(...args);
  }

  fileLinkTarget(...args: Parameters<FileLinks["target"]>) {
    return this.#fileLinks.target(...args);
  }

  listTokens(...args: Parameters<ManagedTokens["list"]>) {
    return this.#tokens.list(...args);
  }

  readToken(...args: Parameters<ManagedTokens["read"]>) {
    return this.#tokens.read(...args);
  }

  changeToken(...args: Parameters<ManagedTokens["change"]>) {
    return this.#tokens.change(...args);
  }

  exceptTool(...args: Parameters<ManagedTokens["exceptTool"]>) {
    return this.#tokens.exceptTool(...args);
  }

  revokeToken(...args: Parameters<ManagedTokens["revoke"]>) {
    return this.#tokens.revoke(...args);
  }

  /** See `CloudFiles`, like all of these. */
  beginCloudFile(...args: Parameters<CloudFiles["begin"]>) {
    return this.#cloudFiles.begin(...args);
  }

  cloudFileArrived(...args: Parameters<CloudFiles["arrived"]>) {
    return this.#cloudFiles.arrived(...args);
  }

  finishCloudFile(...args: Parameters<CloudFiles["finish"]>) {
    return this.#cloudFiles.finish(...args);
  }

  dropCloudFile(...args: Parameters<CloudFiles["drop"]>) {
    return this.#cloudFiles.drop(...args);
  }

  listCloudFiles(...args: Parameters<CloudFiles["list"]>) {
    return this.#cloudFiles.list(...args);
  }

  findCloudFile(...args: Parameters<CloudFiles["find"]>) {
    return this.#cloudFiles.find(...args);
  }

  removeCloudFile(...args: Parameters<CloudFiles["remove"]>) {
    return this.#cloudFiles.remove(...args);
  }

  /** See `Clients`, like all of these. */
  connectClient(...args: Parameters<Clients["connect"]>) {
    return this.#clients.connect(...args);
  }

  clientUntil(...args: Parameters<Clients["until"]>) {
    return this.#clients.until(...args);
  }

  disconnectClient(...args: Parameters<Clients["disconnect"]>) {
    return this.#clients.disconnect(...args);
  }

  /** See `Stop`, like both of these. */
  setPaused(...args: Parameters<Stop["setPaused"]>) {
    return this.#stop.setPaused(...args);
  }

  readPause(...args: Parameters<Stop["read"]>) {
    return this.#stop.read(...args);
  }

  /** See `Notifications`, like all of these. */
  readPush(...args: Parameters<Notifications["read"]>) {
    return this.#notifications.read(...args);
  }

  setQuietHours(...args: Parameters<Notifications["setQuietHours"]>) {
    return this.#notifications.setQuietHours(...args);
  }

  subscribeToPush(...args: Parameters<Notifications["subscribe"]>) {
    return this.#notifications.subscribe(...args);
  }

  changePushSubscription(...args: Parameters<Notifications["change"]>) {
    return this.#notifications.change(...args);
  }

  unsubscribeFromPush(...args: Parameters<Notifications["unsubscribe"]>) {
    return this.#notifications.unsubscribe(...args);
  }

  testPush(...args: Parameters<Notifications["test"]>) {
    return this.#notifications.test(...args);
  }

  /** See `Membership`, like all of these. */
  begin(...args: Parameters<Membership["begin"]>) {
    return this.#membership.begin(...args);
  }

  whoAmI(...args: Parameters<Membership["whoAmI"]>) {
    return this.#membership.whoAmI(...args);
  }

  rename(...args: Parameters<Membership["rename"]>) {
    return this.#membership.rename(...args);
  }

  async close(): ReturnType<Membership["close"]> {
    const closed = await this.#membership.close();
    await this.#cloudFiles.removeAll();
    return closed;
  }

  /** What other accounts shared with this one, for its closing. */
  acceptedShares() {
    return this.#received.all();
  }

  /** See `Invites`, like all of these. */
  createInvite(...args: Parameters<Invites["create"]>) {
    return this.#invites.create(...args);
  }

  listInvites(...args: Parameters<Invites["list"]>) {
    return this.#invites.list(...args);
  }

  withdrawInvite(...args: Parameters<Invites["withdraw"]>) {
    return this.#invites.withdraw(...args);
  }

  acceptInvite(...args: Parameters<Invites["accept"]>) {
    return this.#invites.accept(...args);
  }

  requireMember(...args: Parameters<Invites["requireMember"]>) {
    return this.#invites.requireMember(...args);
  }

  noteClosed(...args: Parameters<Invites["noteClosed"]>) {
    return this.#invites.noteClosed(...args);
  }

  /** See `GivenShares`, like all of these. */
  createShare(...args: Parameters<GivenShares["create"]>) {
    return this.#given.create(...args);
  }

  listShares(...args: Parameters<GivenShares["list"]>) {
    return this.#given.list(...args);
  }

  acceptShare(...args: Parameters<GivenShares["accept"]>) {
    return this.#given.accept(...args);
  }

  shareFor(...args: Parameters<GivenShares["shareFor"]>) {
    return this.#given.shareFor(...args);
  }

  sharedWith(...args: Parameters<GivenShares["sharedWith"]>) {
    return this.#given.sharedWith(...args);
  }

  leaveShare(...args: Parameters<GivenShares["leave"]>) {
    return this.#given.leave(...args);
  }

  /** See `ReceivedShares`, like all of these. */
  receiveShare(...args: Parameters<ReceivedShares["receive"]>) {
    return this.#received.receive(...args);
  }

  receivedShares(...args: Parameters<ReceivedShares["list"]>) {
    return this.#received.list(...args);
  }

  giverOf(...args: Parameters<ReceivedShares["giverOf"]>) {
    return this.#received.giverOf(...args);
  }

  forgetShares(...args: Parameters<ReceivedShares["forget"]>) {
    return this.#received.forget(...args);
  }

  visit(...args: Parameters<ReceivedShares["visit"]>) {
    return this.#received.visit(...args);
  }

  /** The grant that a token names. */
  describe(grant: GrantId): Promise<Outcome<Grant>> {
    return attempt(() => this.#context.grant(grant));
  }

  /** Leases the grant that a caller presented to a Device object. */
  lease(grant: GrantId, device: DeviceId): Promise<Outcome<LeaseAnswer>> {
    return attempt(() => {
      const found = this.#context.grant(grant);
      if (!this.#context.devices.has(device)) throw unknownDeviceError(device);
      if (!this.#context.tokens.isFor(found, device)) throw notForDevice(device);
      this.#context.holders.leased(grant, device, found.version);
      return { ...leased(found), pause: this.#context.pause.state };
    });
  }

  /** See `ManagedDevices`, like all of these. */
  addDevice(...args: Parameters<ManagedDevices["add"]>) {
    return this.#devices.add(...args);
  }

  describeDevice(...args: Parameters<ManagedDevices["describe"]>) {
    return this.#devices.describe(...args);
  }

  removeDevice(...args: Parameters<ManagedDevices["remove"]>) {
    return this.#devices.remove(...args);
  }

  removedAt(...args: Parameters<ManagedDevices["removedAt"]>) {
    return this.#devices.removedAt(...args);
  }

  reachable(...args: Parameters<ManagedDevices["reachable"]>) {
    return this.#devices.reachable(...args);
  }

  /** See `DeviceReports`, like all of these. */
  noteApproval(...args: Parameters<DeviceReports["approval"]>) {
    this.#reports.approval(...args);
  }

  noteAlert(...args: Parameters<DeviceReports["alert"]>) {
    this.#reports.alert(...args);
  }

  noteLongCalls(...args: Parameters<DeviceReports["longCalls"]>) {
    this.#reports.longCalls(...args);
  }

  /** Whether the device belongs to this account. */
  hasDevice(device: DeviceId): boolean {
    return this.#context.devices.has(device);
  }

  /** MCP clients of a grant listen to all its devices until then, in milliseconds since 1970. */
  listenForTools(grant: GrantId, until: number): Promise<Outcome<void>> {
    return attempt(() => {
      this.#context.grant(grant);
      this.#context.listeners.add(grant, until, Date.now());
    });
  }

  /** Counts a guess at a pairing code: a person has five in ten minutes. A correct guess is given back. */
  takeGuess(grant: GrantId): Promise<Outcome<number>> {
    return attempt(() => {
      this.#context.person(grant);
      const now = Date.now();
      const guess = this.#context.codes.takeGuess(now);
      if (guess !== undefined) return guess;
      throw relayError("RATE_LIMITED", "Too many wrong codes", retryIn(this.#context.codes.guessWait(now)));
    });
  }

  giveBackGuess(guess: number): void {
    this.#context.codes.giveBackGuess(guess);
  }

  /** A device tells what is called there, while somebody watches. */
  noteActivity(device: DeviceId, entries: ActivityEntry[]): void {
    this.#watching.note(device, entries, Date.now());
  }

  /** The approvals that wait for a decision, on all devices. */
  listApprovals(grant: GrantId): Promise<Outcome<ApprovalView[]>> {
    return attempt(() => {
      this.#context.person(grant);
      return this.#context.approvals.pending(Date.now());
    });
  }

  /** The account link of a person's session, which the Worker has authenticated. */
  override async fetch(request: Request): Promise<Response> {
    try {
      const caller = authenticatedCaller(request);
      if (!caller) throw new Error("an account link without a caller");
      const { expires } = this.#context.person(caller.grant);
      const now = Date.now();
      const waiting = this.#context.approvals
        .pending(now)
        .map((approval) => ({ type: "approval" as const, approval }));
      const { id: account } = this.#context;
      const hello = {
        type: "hello" as const,
        protocol: 1 as const,
        account,
        pause: this.#context.pauseView(),
      };
      const session = { ...caller, expires: Math.min(expires, caller.expires) };
      return this.#context.people.accept(request, session, [hello, ...waiting], now);
    } catch (error) {
      return problemResponse(error);
    }
  }

  override webSocketMessage(ws: WebSocket, data: string | ArrayBuffer): Promise<void> {
    return this.#context.people.message(ws, data, Date.now());
  }

  /** The runtime does not answer a close frame on a hibernatable socket. */
  override webSocketClose(ws: WebSocket, code: number, reason: string): void {
    if (ws.readyState !== WebSocket.CLOSED) ws.close(isSendable(code) ? code : 1000, closeReason(reason));
  }

  requirePerson(grant: GrantId): Promise<Outcome<Grant>> {
    return attempt(() => this.#context.person(grant));
  }

  override alarm(): Promise<void> {
    return this.#context.alarms.ring(Date.now());
  }
}

function notForDevice(device: string): MatrxError {
  return relayError("PERMISSION_DENIED", `This token may not use the device ${device}`, {
    hint: "GET /v1/devices lists the devices it may use",
  });
}

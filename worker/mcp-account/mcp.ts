/** The MCP endpoint of one grant over all its devices. Stores what models enabled, for a day. */
import { DurableObject } from "cloudflare:workers";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { Caller } from "../auth/caller.ts";
import { revokedGrant } from "../device/leases.ts";
import type { Env } from "../env.ts";
import { logWarning } from "../log.ts";
import { EnabledFamilies } from "../mcp/enabled-families.ts";
import { McpEndpoints } from "../mcp/endpoints.ts";
import { unwrap } from "../outcome.ts";
import { problemResponse } from "../problem.ts";
import { reachableDevices, reachDevice } from "../reach.ts";
import { authenticatedCaller } from "../socket.ts";
import { ManyDevices } from "./many-devices.ts";

/** How long a grant that was found to be valid is not asked about again, in milliseconds. Devices check each call. */
const TRUSTED_MS = 10_000;

export class Mcp extends DurableObject<Env> {
  readonly #endpoints = new McpEndpoints({
    enabled: new EnabledFamilies(this.ctx.storage.kv, (until) => void this.ctx.storage.setAlarm(until)),
    hostFor: (caller, origin, chosen) => new ManyDevices(this.env, caller, origin, chosen),
    onListen: (caller, ms) => this.#listen(caller, Date.now() + ms),
  });
  #trustedUntil = 0;
  /** A grant that has ended never comes back. */
  #isOver = false;

  override async fetch(request: Request): Promise<Response> {
    try {
      const caller = authenticatedCaller(request);
      if (!caller) throw new Error("The Worker names the caller of every request");
      await this.#requireGrant(caller);
      return await this.#endpoints.fetch(request, caller);
    } catch (error) {
      return problemResponse(error);
    }
  }

  /** The account, or one of the devices, says that tools may have changed. */
  toolsChanged(): void {
    this.#endpoints.toolsChanged();
  }

  /** The account has ended the grant: its streams end, and an answer still on its way doesn't bring it back. */
  async revoke(): Promise<void> {
    this.#isOver = true;
    this.#endpoints.close();
    await this.ctx.storage.deleteAll();
  }

  /** What was enabled last is out of date. */
  override async alarm(): Promise<void> {
    await this.ctx.storage.deleteAll();
  }

  /** Asks the account and each device to tell what changes. */
  async #listen(caller: Caller, until: number): Promise<void> {
    try {
      const account = this.env.ACCOUNT.getByName(caller.account);
      unwrap(await account.listenForTools(caller.grant, until));
      const devices = await reachableDevices(this.env, caller);
      await Promise.all(devices.map(({ id }) => this.#listenTo(id, caller, until)));
    } catch (error) {
      logWarning("a device will not tell MCP clients of changed tools", error);
    }
  }

  async #listenTo(id: string, caller: Caller, until: number): Promise<void> {
    const reached = await reachDevice(this.env, caller, id);
    unwrap(await reached.device.listenForTools(reached.caller, caller.grant, until));
  }

  /** Throws MatrxError `UNAUTHENTICATED` if the grant has ended. */
  async #requireGrant({ account, grant }: Caller): Promise<void> {
    const now = Date.now();
    if (now >= this.#trustedUntil) {
      unwrap(await this.env.ACCOUNT.getByName(account).reachable(grant));
      this.#trustedUntil = now + TRUSTED_MS;
    }
    if (this.#isOver) throw new MatrxError(revokedGrant());
  }
}

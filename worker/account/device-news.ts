/** What an account must tell its devices: kept and pushed until each has confirmed. */
import type { DeviceId, GrantId } from "@matrx/shared/ids.ts";
import type { LeasedGrant } from "../device/leases.ts";
import type { PauseNews } from "../device/pause.ts";
import { Outbox } from "../outbox.ts";
import type { Tokens } from "./tokens.ts";

type News =
  /** The device was removed from the account. */
  | { type: "forget" }
  /** A grant was revoked, or changed. */
  | { type: "revoke" | "change"; grant: GrantId }
  /** The account was paused or resumed. */
  | { type: "pause" };

/** The part of a Device object that is told. */
export interface ToldDevice {
  destroy(): Promise<void>;
  revoke(grant: GrantId): Promise<void>;
  changeGrant(leased: LeasedGrant): Promise<void>;
  withdrawGrant(grant: GrantId, version: number): Promise<void>;
  setPause(news: PauseNews): Promise<void>;
}

interface DeviceNewsHost {
  readonly sql: SqlStorage;
  readonly tokens: Tokens;
  isOwn(device: string): boolean;
  /** What the device is to be told of the account's pause now. */
  pauseFor(device: string): PauseNews;
  device(id: DeviceId): ToldDevice;
  /** A removed device has deleted its data. */
  destroyed(id: DeviceId): Promise<void>;
  /** Flushes again by then, in milliseconds since 1970. */
  againBy(at: number): void;
}

/** Delay before an interrupted push is retried, in milliseconds. */
const PUSH_AGAIN = 60_000;

export class DeviceNews {
  readonly #host: DeviceNewsHost;
  readonly #outbox: Outbox;

  constructor(host: DeviceNewsHost) {
    this.#host = host;
    this.#outbox = new Outbox(host.sql, (device, body) => this.#tell(device as DeviceId, JSON.parse(body)));
  }

  /** Keeps news for devices, to be pushed by `flush`. */
  add(devices: readonly string[], news: News, now: number): void {
    if (devices.length === 0) return;
    for (const device of devices) this.#outbox.enqueue(device, JSON.stringify(news), now);
    // Set before the first attempt: if this object dies before the acknowledgement, the alarm pushes again.
    this.#host.againBy(now + PUSH_AGAIN);
  }

  /** The devices that have not confirmed this news yet. */
  waiting(news: News): string[] {
    return this.#outbox.waiting(JSON.stringify(news));
  }

  /** Pushes what is due; what is not confirmed is pushed again by alarm. */
  async flush(now: number): Promise<void> {
    const next = await this.#outbox.flush(now);
    if (next) this.#host.againBy(next);
  }

  /** Pushes what is due. Returns when the next push is due. */
  ring(now: number): Promise<number | undefined> {
    return this.#outbox.flush(now);
  }

  async #tell(id: DeviceId, news: News): Promise<void> {
    const device = this.#host.device(id);
    if (news.type === "revoke") return device.revoke(news.grant);
    if (news.type === "pause") return this.#tellPause(id, device);
    if (news.type === "change") return this.#tellChange(id, device, news.grant);
    await device.destroy();
    await this.#host.destroyed(id);
  }

  /** However often it changed since. */
  async #tellPause(id: DeviceId, device: ToldDevice): Promise<void> {
    if (this.#host.isOwn(id)) await device.setPause(this.#host.pauseFor(id));
  }

  /** Tells a device what its copy of a grant is now, however often it changed since. */
  async #tellChange(id: DeviceId, device: ToldDevice, grant: GrantId): Promise<void> {
    const { tokens, isOwn } = this.#host;
    if (!isOwn(id)) return;
    const news = tokens.newsFor(id, grant, Date.now());
    if (!news) return device.revoke(grant);
    if ("leased" in news) await device.changeGrant(news.leased);
    else await device.withdrawGrant(grant, news.withdrawn);
    tokens.told(id, grant, news);
  }
}

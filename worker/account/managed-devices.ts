/** An account's devices, as its person adds, describes and removes them. */
import { type AccountId, type DeviceId, type GrantId, makeDeviceId } from "@matrx/shared/ids.ts";
import type { DeviceIdentity } from "../device/store.ts";
import { directoryOf } from "../objects/directory.ts";
import { attempt, type Outcome } from "../outcome.ts";
import { tooManyError, unknownDeviceError } from "../refusals.ts";
import type { AccountContext } from "./context.ts";
import type { DeviceEntry } from "./devices.ts";
import { isFor } from "./grants.ts";
import type { ReceivedShares } from "./received-shares.ts";

const DEVICES_MAX = 1000;

export class ManagedDevices {
  readonly #context: AccountContext;
  readonly #received: ReceivedShares;

  constructor(context: AccountContext, received: ReceivedShares) {
    this.#context = context;
    this.#received = received;
  }

  /** `identity` is how the device proves itself. */
  add(person: GrantId, name: string, identity: DeviceIdentity): Promise<Outcome<DeviceEntry>> {
    return attempt(async () => {
      const { devices, record, listeners, env, id: account } = this.#context;
      const by = this.#context.person(person);
      if (devices.count() >= DEVICES_MAX) throw tooManyError("devices", DEVICES_MAX);
      const entry = { id: await this.#newId(name), name, created: Date.now(), tags: [] };
      await env.DEVICE.getByName(entry.id).initialize({ ...entry, account, identity });
      devices.add(entry);
      record.note({ type: "device", action: "added", device: entry.id, name }, by);
      listeners.tell(Date.now());
      return entry;
    });
  }

  /** Sets a device's name, tags, or both; grants for a tag follow it at once. */
  describe(
    person: GrantId,
    device: DeviceId,
    { name, tags }: { name?: string | undefined; tags?: string[] | undefined },
  ): Promise<Outcome<void>> {
    return attempt(async () => {
      const { devices, tokens, record, news, listeners, env } = this.#context;
      const by = this.#context.person(person);
      const entry = devices.find(device);
      if (!entry) throw unknownDeviceError(device);
      const next = { ...entry, name: name ?? entry.name, tags: tags ?? entry.tags };
      const changed = tokens.describeDevice(next, Date.now());
      const told = { type: "device", device, name: next.name } as const;
      if (next.name !== entry.name) record.note({ ...told, action: "renamed" }, by);
      if (tags) record.note({ ...told, action: "tagged", tags }, by);
      for (const { grant, devices } of changed) news.add(devices, { type: "change", grant }, Date.now());
      await news.flush(Date.now());
      await env.DEVICE.getByName(device).describe(next.name, next.tags);
      listeners.tell(Date.now());
    });
  }

  /** Its object wipes its data, later if it cannot be reached right now. */
  remove(person: GrantId, device: DeviceId): Promise<Outcome<void>> {
    return attempt(async () => {
      const { devices, record, holders, approvals, listeners } = this.#context;
      const by = this.#context.person(person);
      const name = devices.find(device)?.name ?? "";
      this.#withdrawApprovals(device);
      if (!devices.remove(device, Date.now())) throw unknownDeviceError(device);
      record.note({ type: "device", action: "removed", device, name }, by);
      holders.forgetDevice(device);
      approvals.forgetDevice(device);
      listeners.tell(Date.now());
      await this.#context.tell([device], { type: "forget" });
    });
  }

  /** When a person removed the device, in milliseconds since 1970; undefined if nobody did. */
  removedAt(grant: GrantId, device: string): Promise<Outcome<number | undefined>> {
    return attempt(() => {
      this.#context.grant(grant);
      return this.#context.devices.removedAt(device);
    });
  }

  /** The devices that a grant may see, and the accounts that share more with its person. */
  reachable(grant: GrantId): Promise<Outcome<{ devices: DeviceEntry[]; givers: AccountId[] }>> {
    return attempt(() => {
      const found = this.#context.grant(grant);
      const devices = this.#context.devices.list().filter(({ id, tags }) => isFor(found, id, tags));
      return { devices, givers: this.#received.givers(grant) };
    });
  }

  /** Those that wait at a device which is being removed. */
  #withdrawApprovals(device: DeviceId): void {
    const now = Date.now();
    const { approvals, push } = this.#context;
    for (const approval of approvals.pending(now))
      if (approval.device === device) push.approval({ ...approval, state: "cancelled" }, now);
  }

  async #newId(name: string): Promise<DeviceId> {
    const { env, id: account } = this.#context;
    for (;;) {
      const id = makeDeviceId(name);
      if (await directoryOf(env.DIRECTORY, id).add(id, account)) return id;
    }
  }
}

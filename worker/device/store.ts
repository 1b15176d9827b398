/** What a Device object durably knows of its device. Written only when something changed, never on connect or heartbeat. */
import type { Proof } from "@matrx/shared/api.ts";
import type { Permissions } from "@matrx/shared/device-frames.ts";
import { effectOf } from "@matrx/shared/effects.ts";
import { type AccountId, type DeviceId, type GrantId, randomBase32 } from "@matrx/shared/ids.ts";
import { modelNames } from "@matrx/shared/model-names.ts";
import { CLOSED_POLICY, type Policy, storedPolicySchema } from "@matrx/shared/policy.ts";
import type { Manifest, ToolDescription } from "@matrx/shared/tool.ts";
import type { StorageHealth } from "../storage/health.ts";
import type { Kv } from "../storage/watched.ts";
import type { StoredRate } from "./rates.ts";

/** How a device proves itself: our agent by its Ed25519 key, a bare device by its token. */
export type DeviceIdentity = { kind: "agent"; publicKey: string } | BareIdentity;

/** `token`: SHA-256 of the token's id, in base64url. `tokenId`: the id itself, of devices from before there were hashes. */
export type BareIdentity = { kind: "bare" } & ({ token: string } | { tokenId: string });

/** Set once, when the account adds the device. */
export interface DeviceRecord {
  id: DeviceId;
  account: AccountId;
  name: string;
  created: number;
  /** Absent before there were tags. */
  tags?: string[];
  identity: DeviceIdentity;
}

/** What the device said about itself when it last registered. */
export interface DeviceInfo {
  hostname: string | null;
  os: string | null;
  os_version: string | null;
  agent_version: string | null;
  journal_id: string | null;
}

/** Written when the link ends. */
interface LastSeen {
  last_seen: number;
  proof: Proof | null;
}

const ENDED = "ended:";

/** Since this version of the device link, agents enforce all of a policy. */
export const ENFORCES_ALL = 2;

/** Since this version, agents have streams. */
export const HAS_STREAMS = 3;

export class RecordStore {
  readonly #kv: Kv;
  readonly #health: Pick<StorageHealth, "isFailing" | "requireWritable">;
  #record: DeviceRecord | undefined;
  #policy: Policy | undefined;
  /** By what the agent understands. */
  #limits: Record<"older" | "without ports" | "all", string | undefined> | undefined;
  #ledgerId: string | undefined;
  #manifest: Manifest | undefined;
  #byName: Map<string, ToolDescription> | undefined;
  #byModelName: Map<string, string> | undefined;

  constructor(kv: Kv, health: Pick<StorageHealth, "isFailing" | "requireWritable">) {
    this.#kv = kv;
    this.#health = health;
  }

  get record(): DeviceRecord | undefined {
    this.#record ??= this.#kv.get<DeviceRecord>("record");
    return this.#record;
  }

  initialize(record: DeviceRecord): void {
    this.#kv.put("record", record);
    this.#record = record;
  }

  describe(name: string, tags: string[]): void {
    if (this.record) this.initialize({ ...this.record, name, tags });
  }

  /** One that is damaged, or of a newer version, allows nothing until it is set again. */
  get policy(): Policy {
    this.#policy ??= policyIn(this.#kv.get("policy"));
    return this.#policy;
  }

  get isPolicyReadable(): boolean {
    return this.policy !== CLOSED_POLICY;
  }

  /** Throws MatrxError `UNAVAILABLE` if it cannot be written. */
  setPolicy(policy: Policy): void {
    this.#health.requireWritable();
    this.#kv.put("policy", policy);
    this.#policy = policy;
    this.#limits = undefined;
  }

  /** What grants had used of their rates when it was last stored. */
  get rates(): StoredRate[] {
    return this.record ? (this.#kv.get<StoredRate[]>("rates") ?? []) : [];
  }

  /** Stores them if storage accepts writes. */
  setRates(rates: StoredRate[]): void {
    if (this.record && !this.#health.isFailing) this.#kv.put("rates", rates);
  }

  /** The permissions as told to the device. */
  get permissions(): Permissions {
    const { allowed_tools, allowed_paths, allowed_apps } = this.policy;
    return {
      ...(allowed_tools && { allowed_tools }),
      ...(allowed_paths && { allowed_paths }),
      ...(allowed_apps && { allowed_apps }),
    };
  }

  /** JSON of the limits that the agent enforces on a call; undefined if there are none. */
  limits(protocol: number): string | undefined {
    const limits = protocol < ENFORCES_ALL ? "older" : protocol < HAS_STREAMS ? "without ports" : "all";
    const all = { ...this.policy, rates: undefined };
    this.#limits ??= {
      older: jsonOf(this.permissions),
      "without ports": jsonOf({ ...all, allowed_ports: undefined, record_terminals: undefined }),
      all: jsonOf(all),
    };
    return this.#limits[limits];
  }

  /** As the device announced it, except for effects, which the gate decides. */
  get manifest(): Manifest | undefined {
    this.#manifest ??= withGatesEffects(this.#kv.get<Manifest>("manifest"));
    return this.#manifest;
  }

  /** The tool of this name that the device announced. */
  toolNamed(name: string): ToolDescription | undefined {
    this.#byName ??= new Map(this.manifest?.tools.map((tool) => [tool.name, tool]));
    return this.#byName.get(name);
  }

  /** The tool that a caller means, by its own name or its model name. */
  toolCalled(name: string): string | undefined {
    if (this.toolNamed(name)) return name;
    this.#byModelName ??= new Map(
      [...modelNames(this.#byName?.keys() ?? [])].map(([own, modelName]) => [modelName, own]),
    );
    return this.#byModelName.get(name);
  }

  setManifest(manifest: Manifest): void {
    if (!this.#health.isFailing) this.#kv.put("manifest", manifest);
    this.#manifest = withGatesEffects(manifest);
    this.#byName = undefined;
    this.#byModelName = undefined;
  }

  get deviceInfo(): DeviceInfo | undefined {
    return this.#kv.get<DeviceInfo>("device_info");
  }

  /** Stores the device's info if storage accepts writes; writes nothing if it is unchanged. */
  setDeviceInfo(deviceInfo: DeviceInfo): void {
    if (this.#health.isFailing) return;
    if (JSON.stringify(deviceInfo) !== JSON.stringify(this.deviceInfo))
      this.#kv.put("device_info", deviceInfo);
  }

  /** The id of this ledger: made once, and again when records were lost. Undefined if it cannot be written. */
  get ledgerId(): string | undefined {
    this.#ledgerId ??= this.#kv.get<string>("ledger_id") ?? this.#newLedgerId();
    return this.#ledgerId;
  }

  /** Records were lost, so a new ledger id is made. */
  noteLoss(now: number): void {
    if (!this.#newLedgerId()) return;
    this.#kv.put("records_lost", now);
  }

  /** When a loss of records was last noticed, in milliseconds since 1970. */
  get recordsLost(): number | undefined {
    return this.#kv.get<number>("records_lost");
  }

  #newLedgerId(): string | undefined {
    if (this.#health.isFailing) return undefined;
    this.#ledgerId = `ledger_${randomBase32(16)}`;
    this.#kv.put("ledger_id", this.#ledgerId);
    return this.#ledgerId;
  }

  get lastSeen(): LastSeen | undefined {
    return this.#kv.get<LastSeen>("last_seen");
  }

  rememberLastSeen(lastSeen: LastSeen): void {
    if (!this.#health.isFailing) this.#kv.put("last_seen", lastSeen);
  }

  /** A grant was revoked while the agent was away: the agent is told when it is back. Throws MatrxError `UNAVAILABLE`. */
  noteEnded(grant: GrantId): void {
    this.#health.requireWritable();
    this.#kv.put(ENDED + grant, true);
  }

  /** While storage does not accept writes, the same grants are returned again next time. */
  takeEnded(): GrantId[] {
    const keys = Array.from(this.#kv.list({ prefix: ENDED }), ([key]) => key);
    if (!this.#health.isFailing) for (const key of keys) this.#kv.delete(key);
    return keys.map((key) => key.slice(ENDED.length) as GrantId);
  }

  destroy(): void {
    this.#record = undefined;
    this.#policy = undefined;
    this.#limits = undefined;
    this.#ledgerId = undefined;
    this.#manifest = undefined;
    this.#byName = undefined;
    this.#byModelName = undefined;
  }
}

/** Undefined for an empty object. */
function jsonOf(limits: object): string | undefined {
  const json = JSON.stringify(limits);
  return json === "{}" ? undefined : json;
}

function withGatesEffects(manifest: Manifest | undefined): Manifest | undefined {
  return (
    manifest && {
      ...manifest,
      tools: manifest.tools.map((tool) => ({ ...tool, effect: effectOf(tool.name) })),
    }
  );
}

function policyIn(stored: unknown): Policy {
  if (stored === undefined) return {};
  return storedPolicySchema.safeParse(stored).data ?? CLOSED_POLICY;
}

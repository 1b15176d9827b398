/**
 * What the OAuth library takes for a KV namespace: a door to the OAuth stores, made anew for each request. A grant is
 * written only as it was read: of two requests that trade the same code, one is refused.
 */
import { isAccountId } from "@matrx/shared/ids.ts";
import type { Env } from "../env.ts";
import { knownAccount } from "../known-accounts.ts";
import { clientStore, grantStore, type NewEntry, type OAuthStore, PREFIX } from "../objects/oauth-store.ts";

type KvEnv = Pick<Env, "ACCOUNT" | "DIRECTORY" | "OAUTH_STORE">;

interface PutOptions {
  /** In seconds. */
  expirationTtl?: number;
  /** Seconds since 1970. */
  expiration?: number;
  /** Ours alone: an entry that is there already keeps its own time. */
  keepsExpiry?: boolean;
  metadata?: unknown;
}

interface ListOptions {
  prefix?: string;
  limit?: number;
  cursor?: string | undefined;
}

/** The library answers 429 to this message; the token endpoint knows what that means. */
const CHANGED_MEANWHILE = "429 Too Many Requests: the entry was changed meanwhile";
const LIST_MAX = 1000;

export class OAuthKv {
  readonly #env: KvEnv;
  /** Grants that were read, and their versions then. */
  readonly #read = new Map<string, number>();

  constructor(env: KvEnv) {
    this.#env = env;
  }

  async get(key: string, options?: { type?: string }): Promise<unknown> {
    const store = await this.storeOf(key);
    const entry = await store?.get(key);
    if (!entry) return null;
    if (key.startsWith(PREFIX.grant)) this.#read.set(key, entry.version);
    return options?.type === "json" ? JSON.parse(entry.value) : entry.value;
  }

  async put(key: string, value: string, options: PutOptions = {}): Promise<void> {
    const store = await this.storeOf(key);
    const isPut = await store?.put(this.entryOf(key, value, options));
    if (!isPut) throw new Error(CHANGED_MEANWHILE);
    const over = this.#read.get(key);
    if (over !== undefined) this.#read.set(key, over + 1);
  }

  async delete(key: string): Promise<void> {
    const store = await this.storeOf(key);
    await store?.delete(key);
  }

  async list({ prefix = "", limit = LIST_MAX, cursor = "" }: ListOptions) {
    const store = await this.storeOf(prefix);
    const listed = await store?.list(prefix, cursor, limit);
    const keys = (listed?.keys ?? []).map(({ name, metadata }) => ({
      name,
      ...(metadata !== null && { metadata: JSON.parse(metadata) }),
    }));
    if (!listed || listed.isComplete) return { keys, list_complete: true as const };
    return { keys, list_complete: false as const, cursor: keys.at(-1)?.name ?? "" };
  }

  /** An account that nobody ever signed in to has no object: asking would create one. */
  async storeOf(key: string): Promise<DurableObjectStub<OAuthStore> | undefined> {
    if (key.startsWith(PREFIX.client)) return clientStore(this.#env.OAUTH_STORE);
    if (!key.startsWith(PREFIX.grant) && !key.startsWith(PREFIX.token)) throw new Error("no such key");
    const [, account = ""] = key.split(":");
    if (!isAccountId(account) || !(await knownAccount(this.#env, account))) return undefined;
    return grantStore(this.#env.OAUTH_STORE, account);
  }

  protected entryOf(key: string, value: string, options: PutOptions): NewEntry {
    const { metadata, keepsExpiry } = options;
    return {
      key,
      value,
      metadata: metadata === undefined ? undefined : JSON.stringify(metadata),
      expires: expiryOf(options),
      keepsExpiry,
      over: this.#read.get(key),
    };
  }
}

/** Holds back what is written of grants and tokens, for somebody who then writes all of it in one go. */
export class HeldKv extends OAuthKv {
  readonly held: NewEntry[] = [];

  override async put(key: string, value: string, options: PutOptions = {}): Promise<void> {
    if (key.startsWith(PREFIX.client)) return super.put(key, value, options);
    this.held.push(this.entryOf(key, value, options));
  }
}

function expiryOf({ expirationTtl, expiration }: PutOptions): number | undefined {
  if (expirationTtl !== undefined) return Date.now() + expirationTtl * 1000;
  return expiration === undefined ? undefined : expiration * 1000;
}

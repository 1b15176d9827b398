/** Which families of tools models have enabled, where. Kept: the object that lists them sleeps between two requests. */
import type { GrantId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import type { EnabledStore } from "@matrx/shared/mcp/enable-tools.ts";
import type { Family } from "@matrx/shared/tool-families.ts";
import type { Kv } from "../storage/watched.ts";

const KEY = "mcp_enabled";
/** Addresses, and those of one caller; the ones enabled at longest ago make room. */
const MOST = 64;
const MOST_OF_CALLER = 4;

interface Row {
  readonly grants: readonly GrantId[];
  /** The families that the address names. */
  readonly choice: string;
  readonly enabled: readonly Family[];
  /** Milliseconds since 1970. */
  readonly until: number;
}

export class EnabledFamilies {
  readonly #kv: Pick<Kv, "get" | "put" | "delete">;
  readonly #onKept: (until: number) => void;
  #rows: readonly Row[] | undefined;

  /** `onKept` is told until when there is something to keep. */
  constructor(kv: Pick<Kv, "get" | "put" | "delete">, onKept: (until: number) => void = () => undefined) {
    this.#kv = kv;
    this.#onKept = onKept;
  }

  /** Those of a caller, which acts by these grants, at one address. */
  at(grants: readonly GrantId[], choice: string): EnabledStore {
    const isHere = (row: Row) => row.choice === choice && row.grants.join() === grants.join();
    const families = () => this.#current(Date.now()).find(isHere)?.enabled ?? [];
    return {
      families,
      add: (family) => {
        const until = Date.now() + TIMES.familyEnabled;
        const row = { grants, choice, enabled: [...new Set([...families(), family])], until };
        const others = this.#current(Date.now()).filter((other) => !isHere(other));
        const own = others.filter((other) => other.grants.join() === grants.join());
        const oldest = own.length < MOST_OF_CALLER ? undefined : own[0];
        this.#keep([...others.filter((other) => other !== oldest), row].slice(-MOST));
        this.#onKept(until);
      },
    };
  }

  /** A grant, or a guest's session, has ended. */
  forget(grant: GrantId): void {
    const rows = this.#all();
    const kept = rows.filter(({ grants }) => !grants.includes(grant));
    if (kept.length < rows.length) this.#keep(kept);
  }

  #current(now: number): readonly Row[] {
    return this.#all().filter(({ until }) => until > now);
  }

  #all(): readonly Row[] {
    this.#rows ??= this.#kv.get<readonly Row[]>(KEY) ?? [];
    return this.#rows;
  }

  #keep(rows: readonly Row[]): void {
    this.#rows = rows;
    if (rows.length > 0) this.#kv.put(KEY, rows);
    else this.#kv.delete(KEY);
  }
}

/** Refused calls, for the record: the first at once, equal ones of the minute after it as one entry that counts them. */
import type { AuditDraft } from "@matrx/shared/audit.ts";
import type { ErrorCode } from "@matrx/shared/errors.ts";

type Denied = Extract<AuditDraft, { type: "denied" }>;

/** Refusals that are the caller's doing; others, such as an offline device, say nothing of it. */
const TOLD: ReadonlySet<ErrorCode> = new Set(["PERMISSION_DENIED", "TOOL_NOT_FOUND", "RATE_LIMITED"]);

const COUNTED_FOR = 60_000;
/**
 * Different refusals within a minute, beyond which those of one grant count as equal: whoever makes up names of tools must
 * not push older entries out of the record.
 */
const KINDS_MAX = 8;

interface Counted {
  readonly until: number;
  times: number;
  /** Told before its minute was over; what follows waits. */
  isToldEarly: boolean;
  /** The latest that was counted. */
  last?: (() => Denied) | undefined;
}

export class Denials {
  readonly #counted = new Map<string, Counted>();

  /** The entry to tell now; undefined if the refusal is only counted, or not told at all. */
  note(
    kind: { grant: string; code: ErrorCode; tool: string },
    describe: () => Denied,
    now: number,
  ): (() => Denied) | undefined {
    const { grant, code, tool } = kind;
    if (!TOLD.has(code)) return undefined;
    const key = `${grant} ${code} ${this.#counted.size < KINDS_MAX ? tool : ""}`;
    const counted = this.#counted.get(key);
    if (counted && counted.until > now) {
      counted.times++;
      counted.last = describe;
      return undefined;
    }
    this.#counted.set(key, { until: now + COUNTED_FOR, times: 0, isToldEarly: false });
    return describe;
  }

  /** Whether a count waits to be told. */
  get hasCounts(): boolean {
    return [...this.#counted.values()].some(({ last }) => last);
  }

  /** The counts whose minute is over; also the others once nothing happens any more, but each only once a minute. */
  due(now: number, isQuiet: boolean): (() => Denied)[] {
    const due: (() => Denied)[] = [];
    for (const [key, counted] of this.#counted) {
      const { until, times, last, isToldEarly } = counted;
      if (until > now && (!isQuiet || isToldEarly || !last)) continue;
      if (until <= now) this.#counted.delete(key);
      else Object.assign(counted, { times: 0, last: undefined, isToldEarly: true });
      if (last) due.push(() => ({ ...last(), ...(times > 1 && { times }) }));
    }
    return due;
  }
}

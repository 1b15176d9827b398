/**
 * Two agents with one identity, such as that of a cloned disk, of which each closes the other's connection for ever: after a
 * few times the owner is told. Only a living agent answers the close of its connection, so a bad line is not taken for one.
 */
import type { DeviceEvent } from "@matrx/shared/events.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import type { Kv } from "../../storage/watched.ts";

interface Noted {
  /** The last of them, in milliseconds since 1970. */
  readonly at: readonly number[];
  readonly isTold: boolean;
}

const KEY = "take-overs";
/** So many within `TIMES.takeOversWithin` are no accident: one alone is a program that was started twice. */
const MANY = 3;

const CONDITION = { type: "event", event_type: "identity_shared", key: "agents" } as const;

export class TakeOvers {
  readonly #kv: Kv;
  readonly #report: (event: DeviceEvent, now: number) => void;
  readonly #lookBy: (at: number) => void;

  constructor(
    kv: Kv,
    { report, lookBy }: { report: (event: DeviceEvent, now: number) => void; lookBy: (at: number) => void },
  ) {
    this.#kv = kv;
    this.#report = report;
    this.#lookBy = lookBy;
  }

  /** A living agent gave way to another. */
  note(now: number): void {
    const { at, isTold } = this.#kv.get<Noted>(KEY) ?? { at: [], isTold: false };
    const recent = [...at.filter((each) => each > now - TIMES.takeOversWithin), now].slice(-MANY);
    const tells = !isTold && recent.length >= MANY;
    this.#kv.put(KEY, { at: recent, isTold: isTold || tells } satisfies Noted);
    this.#lookBy(now + TIMES.takeOversWithin);
    if (tells) this.#report({ ...CONDITION, severity: "warning", data: WHAT }, now);
  }

  /** It is over once none was seen for a while. Returns when to look again. */
  look(now: number): number | undefined {
    const noted = this.#kv.get<Noted>(KEY);
    const over = (noted?.at.at(-1) ?? 0) + TIMES.takeOversWithin;
    if (!noted) return undefined;
    if (now < over) return over;
    this.#kv.delete(KEY);
    if (noted.isTold) this.#report({ ...CONDITION, resolved: true }, now);
    return undefined;
  }
}

const WHAT = {
  message: "Two agents connect as this machine in turn, and each ends the other's connection",
  cause: "Both have the same key, as after a disk was cloned, or a machine restored twice",
  hint: "On one of them, run: matrx pair --replace --name NAME. Then it is a machine of its own",
};

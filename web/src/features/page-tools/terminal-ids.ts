/** The numbers by which AIs know a machine's terminals in this tab: given out in order, and never twice. */
import { keepInTab, keptInTab } from "../../base/tab-store.ts";

interface Known {
  readonly id: number;
  /** Where an AI wanted it: tabs and panes have no such places, so it is only told again. */
  readonly x: number;
  readonly y: number;
}

interface Kept {
  readonly next: number;
  /** By the machine's own name of the terminal. */
  readonly known: Readonly<Record<string, Known>>;
}

export interface Place {
  readonly x: number;
  readonly y: number;
}

export const USUAL_PLACE: Place = { x: 100, y: 100 };

/** Terminals that people close themselves are not forgotten one by one. */
const MOST_KNOWN = 500;

export class TerminalIds {
  readonly #name: string;
  #kept: Kept;

  constructor(device: string) {
    this.#name = `terminal-ids:${device}`;
    this.#kept = keptInTab(this.#name, isKept) ?? { next: 1, known: {} };
  }

  /** The number of a terminal that is shown; its first one if it has none yet. */
  idOf(terminal: string, place = USUAL_PLACE): number {
    const { next, known } = this.#kept;
    const found = Object.hasOwn(known, terminal) ? known[terminal] : undefined;
    if (found) return found.id;
    const latest = Object.entries(known).filter(([, { id }]) => id > next - MOST_KNOWN);
    this.#keep({
      next: next + 1,
      known: Object.fromEntries([...latest, [terminal, { id: next, ...place }]]),
    });
    return next;
  }

  /** It was closed. */
  forget(terminal: string): void {
    const { next, known } = this.#kept;
    const kept = Object.entries(known).filter(([one]) => one !== terminal);
    this.#keep({ next, known: Object.fromEntries(kept) });
  }

  #keep(kept: Kept): void {
    this.#kept = kept;
    keepInTab(this.#name, kept);
  }
}

function isKept(value: unknown): value is Kept {
  if (!isFields(value) || !isCount(value.next) || !isFields(value.known)) return false;
  const { next } = value;
  return Object.values(value.known).every(
    (one) => isFields(one) && isCount(one.id) && one.id < next && isCount(one.x) && isCount(one.y),
  );
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value);
}

/** Conditions of one event type: each is reported when it begins, gets worse, and ends. */
import { createHash } from "node:crypto";
import { SEVERITIES, type Severity } from "@matrx/shared/events.ts";
import type { Emit, EventData } from "../events/report.ts";

const MAX = 256;

/** The text itself, or its beginning with a digest of the whole. */
export function keyOf(text: string): string {
  if (text.length <= MAX) return text;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return `${text.slice(0, MAX - 20).toWellFormed()}...${digest}`;
}

export class Conditions {
  readonly #type: string;
  readonly #emit: Emit;
  readonly #raised = new Map<string, Severity>();
  /** Conditions from an earlier run of the agent: reported again if they still hold, otherwise ended. */
  readonly #left: Set<string>;

  constructor(type: string, emit: Emit, left: readonly string[] = []) {
    this.#type = type;
    this.#emit = emit;
    this.#left = new Set(left);
  }

  /** Keys of open conditions. */
  get open(): string[] {
    return [...new Set([...this.#raised.keys(), ...this.#left])];
  }

  /** The condition holds: reports it if that is new, or worse than before. */
  raise(key: string, severity: Severity, data: EventData): void {
    const known = this.#raised.get(key);
    if (known && SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(known)) return;
    this.#raised.set(key, severity);
    this.#left.delete(key);
    this.#emit({ type: this.#type, key, severity, data });
  }

  /** Ends the condition, if it ever began. */
  clear(key: string, data: EventData): void {
    const known = this.#raised.delete(key);
    if (!this.#left.delete(key) && !known) return;
    this.#emit({ type: this.#type, key, severity: "info", data, resolved: true });
  }
}

export interface MonitorParts {
  readonly emit: Emit;
  /** Keys of this type's conditions that an earlier run left open. */
  openKeys(type: string): string[];
  /** A check of this monitor ended; `failure` if it could not check. */
  onLook(monitor: string, failure: Error | undefined): void;
}

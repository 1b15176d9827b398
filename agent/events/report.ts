/** What a monitor or a program on this machine reports, before it becomes an event. */
import type { Severity } from "@matrx/shared/events.ts";

export type EventData = Record<string, unknown>;

export interface Report {
  readonly type: string;
  readonly severity: Severity;
  readonly data: EventData;
  /** For a condition that lasts, such as a full drive: what it is about. Another report with `resolved` ends it. */
  readonly key?: string;
  readonly resolved?: true;
  /** For a report without a key: it is folded into one of the same name that is still waiting to be sent. */
  readonly fold?: Fold;
}

export interface Fold {
  readonly name: string;
  join(earlier: EventData, later: EventData): EventData;
}

export type Emit = (report: Report) => void;

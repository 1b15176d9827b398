/** What a monitor or a program on this machine reports, before it becomes an event. */
import type { Severity } from "@matrx/shared/events.ts";

export type EventData = Record<string, unknown>;

export interface Report {
  readonly type: string;
  readonly severity: Severity;
  readonly data: EventData;
  /** A condition that lasts, such as a full drive: what it is about. Another report with `resolved` ends it. */
  readonly key?: string;
  readonly resolved?: true;
  /** Without a key: reports of this name that come while one still waits to be sent are joined into it. */
  readonly fold?: Fold;
}

export interface Fold {
  readonly name: string;
  join(earlier: EventData, later: EventData): EventData;
}

export type Emit = (report: Report) => void;

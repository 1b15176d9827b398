/** What the journal says of one call, and the row of its table that says so. */
import { type ResultHeader, resultHeaderSchema } from "@matrx/shared/result-frame.ts";

/** `unknown`: begun by an agent that died before the end. */
export type CallState = "never" | "started" | "finished" | "unknown";

/** What is known of a call when it begins, besides its name and tool. */
export interface Beginning {
  /** Hash of tool and input. */
  readonly input?: string | undefined;
  /** The caller's own name for the call. */
  readonly id?: string | undefined;
  readonly grant?: string | undefined;
  /** Idempotency key, within the grant. */
  readonly key?: string | undefined;
  /** When it is stopped, in milliseconds since 1970. */
  readonly deadline?: number | undefined;
}

export interface JournalEntry {
  readonly call: string;
  readonly state: Exclude<CallState, "never">;
  readonly tool: string;
  /** Milliseconds since 1970. */
  readonly started: number;
  readonly id: string | undefined;
  readonly grant: string | undefined;
  readonly key: string | undefined;
  readonly deadline: number | undefined;
  /** Hash of the input, where it was given. */
  readonly input: string | null;
  readonly header: ResultHeader | undefined;
  /** Undefined: not ended yet, or not kept any more. */
  readonly body: Uint8Array | undefined;
  /** The relay has said that it keeps the outcome. */
  readonly acknowledged: boolean;
}

/** As the table has it. */
export interface Row {
  call: string;
  state: JournalEntry["state"];
  tool: string;
  started: number;
  caller_id: string | null;
  grant_id: string | null;
  key: string | null;
  deadline: number | null;
  input: string | null;
  header: string | null;
  body: Uint8Array | null;
  acknowledged: number;
}

export const COLUMNS =
  "call, state, tool, started, caller_id, grant_id, key, deadline, input, header, body, acknowledged";

export function entryOf(row: Row): JournalEntry {
  const { call, state, tool, started, caller_id, grant_id, key, deadline, input, header, body } = row;
  return {
    ...{ call, state, tool, started, input, acknowledged: row.acknowledged === 1 },
    id: caller_id ?? undefined,
    grant: grant_id ?? undefined,
    key: key ?? undefined,
    deadline: deadline ?? undefined,
    header: header === null ? undefined : resultHeaderSchema.parse(JSON.parse(header)),
    body: body ?? undefined,
  };
}

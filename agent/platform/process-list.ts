/** All processes of the machine, as a person would look at them. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { toolName } from "../text/tool-names.ts";
import { inTime } from "./in-time.ts";

export interface ProcessFacts {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  /** The whole command line, as it was given; may hold secrets. */
  readonly command: string;
  /** Null: not known. */
  readonly user: string | null;
  /** Of one processor's time, at this moment, in percent. */
  readonly cpuPercent: number;
  /** Resident, in bytes. */
  readonly memoryBytes: number;
  /** Milliseconds since 1970. */
  readonly started: number;
}

export interface ProcessList {
  /** Those that live; takes two looks for their processor time. */
  all(): Promise<ProcessFacts[]>;
  /** Two looks at one process differ in `started` by no more than this, in milliseconds. */
  readonly startedWithinMs: number;
}

/** A process whose memory the kernel holds locked can keep a reader waiting without end; in milliseconds. */
const LOOK_MS = 15_000;

/** The list, waited for no longer than a look may take. Throws MatrxError, or the signal's reason. */
export async function processesOf(list: ProcessList, signal: AbortSignal): Promise<ProcessFacts[]> {
  return await inTime(() => list.all(), { withinMs: LOOK_MS, tookTooLong, signal });
}

function tookTooLong(): MatrxError {
  return toolError("TOOL_EXECUTION_FAILED", `The system did not list its processes within ${LOOK_MS} ms`, {
    hint: `Try again; if it happens again, find the hanging process with ${toolName("Bash")}`,
  });
}

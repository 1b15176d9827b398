/** Calls of a machine's own tools, on the way that all pages take: policy, approvals and record hold for them as for any other. */
import { callTool, type Input, type Success } from "../../calls/call-tool.ts";
import type { Tool } from "../../relay/call.ts";
import { waitsNotice } from "../../ui/approval-words.ts";
import { say, sayProblem } from "../../ui/notices.ts";
import { timedOut } from "./failure.ts";

/** Longer than a person may take to allow a call, in milliseconds. */
const LONGEST = 600_000;

/** Calls of the machine's tools that only read. */
export interface Reading {
  /** Throws ApiError, PageToolError. */
  read(tool: string, input: Input): Promise<Success>;
}

/** Calls of the machine's tools that change something: whoever has it was allowed to. */
export interface Acting {
  /** `late`: gets the answer that comes when nobody waits for it any more. */
  run(tool: string, input: Input, late?: (answer: Success) => void): Promise<Success>;
  /** Takes back what an earlier call made, also when whoever called has left. */
  undo(tool: string, input: Input): void;
}

export class MachineCalls {
  readonly device: string;
  /** Ends the call, and what it runs on the machine. */
  readonly signal: AbortSignal;

  constructor(device: string, signal: AbortSignal) {
    this.device = device;
    this.signal = signal;
  }

  /**
   * `late` gets the answer that comes when nobody waits for it any more. Throws ApiError: also what the tool refused; PageToolError:
   * it took too long; the signal's reason.
   */
  async call(tool: Tool, input: Input, late?: (answer: Success) => void): Promise<Success> {
    this.signal.throwIfAborted();
    const ending = new AbortController();
    const run = callTool(this.device, tool, input, { stop: ending.signal, onAsked: sayQuestion });
    const ended = Promise.withResolvers<never>();
    const end = (reason: unknown) => {
      // Without an answer, or with one that can't be read, there is nothing to take back.
      if (late) run.then(late).catch(() => undefined);
      ending.abort();
      ended.reject(reason);
    };
    const abort = () => end(this.signal.reason);
    this.signal.addEventListener("abort", abort, { once: true });
    const timer = setTimeout(() => end(timedOut(`${tool.name} did not end in time`)), LONGEST);
    try {
      return await Promise.race([run, ended.promise]);
    } finally {
      clearTimeout(timer);
      this.signal.removeEventListener("abort", abort);
    }
  }
}

/** Calls a tool for which nobody waits; it can't be cancelled. */
export function callAside(device: string, tool: Tool, input: Input): void {
  const calls = new MachineCalls(device, new AbortController().signal);
  calls.call(tool, input).catch((error: unknown) => sayProblem(error));
}

function sayQuestion(isAsked: boolean): void {
  if (isAsked) say(waitsNotice("An AI's call"));
}

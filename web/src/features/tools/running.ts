/**
 * Makes calls and follows them to their end, while the person looks at other tools. Those that ran when the page was loaded
 * again are followed too, as far as the relay, or this computer, knows them.
 */
import { isReadOnlyCommand } from "@matrx/shared/read-only.ts";
import { onForget } from "../../base/tab-store.ts";
import { newCall, type ToolCall } from "../../calls/tool-call.ts";
import { refreshDevices } from "../../data/devices.ts";
import type { Tool } from "../../data/tools.ts";
import { DirectCall } from "../../direct/call.ts";
import { useDirect } from "../../direct/local.ts";
import { ApiError, isSignedOut } from "../../relay/api-error.ts";
import type { CallAnswer, CallEvent } from "../../relay/call-events.ts";
import { useConnection } from "../../relay/connection.ts";
import { type CallEnd, EarlierCall, endBy } from "../../relay/earlier-call.ts";
import type { CallListener } from "../../relay/known-call.ts";
import { LiveOutput } from "../../ui/output/live-output.ts";
import { troubleOf } from "../../ui/Problem.tsx";
import type { ToolInput } from "../../ui/schema/draft.ts";
import { outcomeOf } from "./outcome.ts";
import { isRunning, type Run } from "./run.ts";
import { addRun, changeRun, useRuns } from "./runs.ts";

type Followed = Pick<ToolCall, "id" | "stop" | "leave">;

const calls = new Map<number, Followed>();
const lives = new Map<number, LiveOutput>();
const listeners = new Set<(id: number) => void>();
let lastId = 0;

onForget(() => {
  for (const call of calls.values()) call.leave();
  calls.clear();
  lives.clear();
});

/** Makes a call, and shows it at its tool. Returns its id among the runs. */
export function startRun(
  device: string,
  { name: tool, effect: usual }: Pick<Tool, "name" | "effect">,
  input: ToolInput,
): number {
  const effect = isReadOnlyCommand(tool, input) ? "read" : usual;
  const call = newCall(device, { name: tool, effect });
  const run: Run = {
    ...{ id: newId(), device, tool, effect, input, began: Date.now(), state: "sending" },
    ...(call instanceof DirectCall && effect !== "read" && { direct: call.name }),
  };
  addRun(run);
  const make = async (listener: CallListener) => {
    const answer = await call.run(input, listener);
    return answer && endBy(answer);
  };
  void follow(run, call, make, (error) => failed(run, call, error));
  return run.id;
}

/** Never one that was used in this tab, though its call was cleared away since: others may know it by that. */
function newId(): number {
  lastId = Math.max(lastId + 1, Date.now());
  return lastId;
}

/** Its output as it comes; undefined: the page was loaded again since. */
export function liveOf({ id }: Run): LiveOutput | undefined {
  return lives.get(id);
}

/** Throws ApiError. */
export async function stopRun({ id }: Pick<Run, "id">): Promise<void> {
  await calls.get(id)?.stop();
}

/** Calls back with the id of each run that is over, however it ended. */
export function onRunEnd(ended: (id: number) => void): void {
  listeners.add(ended);
}

/** Goes on with those that ran when the page was closed, and are not followed yet. */
function resumeRuns(): void {
  for (const run of useRuns.getState().runs) {
    if (!isRunning(run) || calls.has(run.id)) continue;
    if (run.call !== undefined) {
      const call = new EarlierCall({ device: run.device, call: run.call });
      void follow(run, call, (listener) => call.end(listener), lost);
    } else if (run.direct !== undefined && useDirect.getState().state === "online") {
      const call = new DirectCall({ name: run.tool, effect: run.effect }, run.direct);
      const ask = async (listener: CallListener) => {
        const answer = await call.again(run.input, listener);
        return answer && endBy(answer);
      };
      void follow(run, call, ask, (error) => failed(run, call, error));
    }
  }
}

resumeRuns();
useDirect.subscribe(({ state }, before) => {
  if (state === "online" && before.state !== "online") resumeRuns();
});
// Whoever had to sign in again may ask then.
useConnection.subscribe(({ state }, before) => {
  if (state === "online" && before.state !== "online") resumeRuns();
});

async function follow(
  { id, began }: Run,
  call: Followed,
  end: (listener: CallListener) => Promise<CallEnd | undefined>,
  failedBy: (error: unknown) => Partial<Run>,
): Promise<void> {
  calls.set(id, call);
  lives.set(id, new LiveOutput());
  try {
    const ended = await end({
      onCall: () =>
        changeRun(id, { state: "running", obstacle: undefined, ...(call.id && { call: call.id }) }),
      onEvent: (event) => take(id, event),
      onTrouble: (obstacle) => changeRun(id, { obstacle }),
    });
    if (ended) finish(id, began, ended);
  } catch (error) {
    changeRun(id, failedBy(error));
  } finally {
    calls.delete(id);
    for (const ended of listeners) ended(id);
    await refreshDevices();
  }
}

function finish(id: number, began: number, { took = Date.now() - began, answer, ...end }: CallEnd): void {
  lives.get(id)?.flush();
  changeRun(id, { state: "over", ended: began + took, outcome: outcomeOf(end, took), answer });
  for (const run of useRuns.getState().runs) if (run.state === "over" && !run.answer) lives.delete(run.id);
}

/** After its name is known, a call that changes something may have done so, whatever went wrong since. */
function failed({ began, effect }: Run, call: Followed, error: unknown): Partial<Run> {
  const trouble = troubleOf(error);
  const isUnclear = call.id !== undefined && effect !== "read";
  if (isUnclear && isSignedOut(error)) return { obstacle: trouble.message };
  const { code } = isUnclear ? UNCLEAR : (trouble as Pick<CallAnswer, "code">);
  const outcome = outcomeOf({ type: "error", ...(code && { code }) }, Date.now() - began);
  return { state: "over", ended: Date.now(), error: trouble, outcome };
}

const UNCLEAR = { code: "OUTCOME_UNKNOWN" } as const;

/** Of an earlier call that the relay does not tell of. */
function lost(error: unknown): Partial<Run> {
  const trouble = troubleOf(error);
  if (isSignedOut(error)) return { obstacle: trouble.message };
  const isUnknown = error instanceof ApiError && error.status === 404;
  return { state: "left", obstacle: undefined, ...(!isUnknown && { error: trouble }) };
}

function take(id: number, event: CallEvent): void {
  if (event.type === "output" || event.type === "gap") return lives.get(id)?.take(event);
  if (event.type === "approval") {
    const isAsked = event.state === "pending";
    return changeRun(id, { state: isAsked ? "asked" : "running", expires: event.expires });
  }
  const { progress, total, message } = event;
  changeRun(id, {
    progress: { progress, ...(total !== undefined && { total }), ...(message && { message }) },
  });
}

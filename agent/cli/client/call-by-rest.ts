/** A call by REST: one request; if it takes longer, polls until the outcome is there. */
import { setTimeout as sleep } from "node:timers/promises";
import { callViewSchema } from "@matrx/shared/api.ts";
import { type Answer, answerSchema } from "@matrx/shared/caller/to-caller.ts";
import { callerError, MatrxError, relayError } from "@matrx/shared/errors.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { CALL_HEADER, SESSION_HEADER } from "@matrx/shared/tokens.ts";
import type { LiveOutput } from "../output/live-output.ts";
import { noteWaiting } from "../output/waiting-note.ts";
import { pathOf, type RelayClient, type Reply } from "./relay-client.ts";

/** A call, whether by REST or WebSocket. */
export interface CallToMake {
  readonly device: string;
  readonly tool: string;
  readonly input: Record<string, unknown>;
  readonly timeoutMs: number | undefined;
  /** The idempotency key, by which a lost answer can be requested again. */
  readonly key: string | undefined;
  readonly session: string | undefined;
  /** Cancels the call. */
  readonly stop: AbortSignal;
}

/** A call that has ended. */
export interface MadeCall {
  answer: Answer;
  /** Output that was already shown live. */
  live?: LiveOutput | undefined;
  session: string | undefined;
}

const POLL_EVERY = 1000;
/** How often a request without an answer is tried; with an idempotency key it is the same call. */
const TRIES = 3;

/** Makes the call and waits for its end. Throws MatrxError. */
export async function callByRest(client: RelayClient, toMake: CallToMake): Promise<MadeCall> {
  const reply = await request(client, toMake);
  const session = reply.headers.get(SESSION_HEADER) ?? undefined;
  const answer =
    reply.status === 202 ? await outcomeOf(client, toMake, reply) : answerSchema.parse(reply.body);
  return { answer, session };
}

async function request(client: RelayClient, toMake: CallToMake): Promise<Reply> {
  const { device, tool, input, key, session, timeoutMs, stop } = toMake;
  for (let tries = 1; ; tries++) {
    try {
      return await client.send("POST", pathOf("v1", "devices", device, "tools", tool), {
        body: input,
        headers: {
          ...(key !== undefined && { "Idempotency-Key": key }),
          ...(session !== undefined && { [SESSION_HEADER]: session }),
        },
        ...(timeoutMs !== undefined && { query: { timeout_ms: String(timeoutMs) } }),
        timeoutMs: TIMES.restHold + 15_000,
        signal: stop,
      });
    } catch (error) {
      if (stop.aborted) throw stoppedWaiting(key);
      const unanswered =
        error instanceof MatrxError && error.code === "UNAVAILABLE" && error.hop === "caller";
      if (!unanswered || tries === TRIES) throw error;
      await sleep(POLL_EVERY);
    }
  }
}

async function outcomeOf(client: RelayClient, { device, stop }: CallToMake, reply: Reply): Promise<Answer> {
  const call = reply.headers.get(CALL_HEADER) ?? reply.headers.get("Location")?.split("/").at(-1) ?? "";
  const path = pathOf("v1", "devices", device, "calls", call);
  let cancelSent = false;
  let isToldOfApproval = false;
  for (;;) {
    const view = await client.get(path, callViewSchema);
    if (view.state === "awaiting_approval" && view.approval && !isToldOfApproval) {
      noteWaiting(view.approval);
      isToldOfApproval = true;
    }
    if (view.outcome !== undefined) return answerSchema.parse(view.outcome);
    if (view.state !== "accepted" && view.state !== "awaiting_approval")
      throw noOutcome(view.state, `${client.relay}${path}`);
    if (stop.aborted && !cancelSent) {
      await client.send("POST", `${path}/cancel`);
      cancelSent = true;
    }
    await sleep(POLL_EVERY, undefined, cancelSent ? {} : { signal: stop }).catch(() => {});
  }
}

function stoppedWaiting(key: string | undefined): MatrxError {
  return callerError("CANCELLED", "Stopped waiting; the call may still be running", {
    hint: key ? `To get its outcome, repeat the call with --idempotency-key ${key}` : "",
  });
}

function noOutcome(state: string, url: string): MatrxError {
  return relayError("OUTCOME_UNKNOWN", `The call is ${state}, but the relay doesn't have its outcome`, {
    hint: `Try ${url} again later`,
  });
}

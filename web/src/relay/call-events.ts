/** The events of a call (`text/event-stream`), and what they are about. */
import type { ServerEvent } from "@matrx/client/http/server-events.ts";
import type { Told } from "@matrx/client/http/transport.ts";
import type { CallEvent } from "@matrx/client/transport.ts";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import { answerIn, answerOf, type CallProblem, UNREADABLE } from "./answer.ts";

export type { CallEvent };
export type CallAnswer = Answer;

/** Undefined: a newer relay may tell more than this page knows. */
export function readEvent({ event, data }: ServerEvent): Told | undefined {
  if (event === "result") return { kind: "answer", answer: resultIn(data) };
  if (event === "error") return { kind: "answer", answer: answerOf(problemIn(data)) };
  return isKnown(event) ? { kind: "event", event: JSON.parse(data) } : undefined;
}

function isKnown(event: string | undefined): event is CallEvent["type"] {
  return event !== undefined && KNOWN.includes(event);
}

const KNOWN: readonly string[] = ["output", "gap", "progress", "approval"] satisfies CallEvent["type"][];

/** The call ended, whatever came of its answer on the way. */
function resultIn(data: string): CallAnswer {
  try {
    const answer = answerIn(JSON.parse(data));
    if (answer) return answer;
  } catch {
    // Told below.
  }
  return answerOf(UNREADABLE);
}

function problemIn(data: string): CallProblem {
  try {
    const value: Partial<CallProblem> | null = JSON.parse(data);
    return { ...UNREADABLE, ...value };
  } catch {
    return UNREADABLE;
  }
}

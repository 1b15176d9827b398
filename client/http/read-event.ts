/** Events of a call, checked by their schemas. */
import {
  approvalEventSchema,
  callEventSchema,
  gapEventSchema,
  outputEventSchema,
  progressEventSchema,
} from "@matrx/shared/api.ts";
import { answerSchema } from "@matrx/shared/caller/to-caller.ts";
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import { errorInProblem } from "@matrx/shared/problem.ts";
import * as z from "zod";
import { answerOfProblem } from "../errors.ts";
import type { ServerEvent } from "./server-events.ts";
import type { Told } from "./transport.ts";

/** Undefined: a newer relay may tell more than this program knows. */
export function readEvent({ event: type, data }: ServerEvent): Told | undefined {
  const value: unknown = JSON.parse(data);
  if (type === "result") return { kind: "answer", answer: answerSchema.parse(value) };
  if (type === "error")
    return { kind: "answer", answer: answerOfProblem(errorInProblem(value) ?? unreadable()) };
  if (type === "call") return { kind: "name", call: callEventSchema.parse(value).call };
  const event = eventSchema.safeParse(value).data;
  return event && { kind: "event", event };
}

const eventSchema = z.discriminatedUnion("type", [
  outputEventSchema,
  gapEventSchema,
  progressEventSchema,
  approvalEventSchema,
]);

function unreadable(): MatrxError {
  return relayError("INVALID_ANSWER", "The call ended, and its answer can't be read here", {
    hint: "Check what it changed before you run it again",
  });
}

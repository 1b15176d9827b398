/** Writes answers in the caller's format, once: relay and local server pass on the bytes. */
import { hash } from "node:crypto";
import { errorAnswer, imageOf } from "@matrx/shared/caller/error-answer.ts";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import { agentError, type ErrorShape, type MatrxError } from "@matrx/shared/errors.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { answerPreview } from "@matrx/shared/redact.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import type { ToolResult } from "./tool.ts";

/** The outcome of a call: a header for the relay, and the answer's bytes, which it passes on. */
export interface Outcome {
  readonly header: ResultHeader;
  readonly body: Uint8Array;
}

/** Whom the answer is for. Without the caller's id it has the REST format. */
export interface Addressee {
  readonly call: string;
  readonly id?: string | undefined;
  readonly device: string;
  /** Name of the tool, for the feed. */
  readonly tool?: string | undefined;
}

interface Facts {
  ms: number;
  /** Whether the call had an effect: then hash and preview go into ledger and feed. */
  effect: boolean;
  /** False if it is known that nothing ran. */
  ran?: false;
}

/** Room for the header in a result frame, in bytes. */
const HEADER_ROOM = 8 * 1024;

/** The outcome of a call whose tool returned. */
export function successOutcome(to: Addressee, result: ToolResult, facts: Facts): Outcome {
  const { exit, image } = result;
  const metadata = exit === undefined ? result.metadata : { exit_code: exit, ...result.metadata };
  const answer: Answer = {
    ...(to.id !== undefined && { id: to.id }),
    type: "success",
    output: result.output,
    call: to.call,
    device: to.device,
    ...imageOf(to.id, image),
    ...(metadata && { metadata }),
    ...(result.content && { content: [...result.content] }),
    ...(result.structured !== undefined && { structured: result.structured }),
  };
  const body = bytesOf(answer);
  if (body.length > LIMITS.resultFrameBytes - HEADER_ROOM) {
    return errorOutcome(to, tooLarge(body.length).shape(), facts);
  }
  const header: ResultHeader = { ...named(to), status: "success", ms: facts.ms };
  if (exit !== undefined) header.exit = exit;
  return sealed(header, body, result.output, facts.effect);
}

/** The outcome of a call that failed, was refused or was cancelled. */
export function errorOutcome(to: Addressee, error: ErrorShape, facts: Facts): Outcome {
  const body = bytesOf(errorAnswer(error, to));
  if (body.length > LIMITS.resultFrameBytes - HEADER_ROOM) {
    const { details: _, ...short } = error;
    return errorOutcome(to, { ...short, message: short.message.slice(0, 4096) }, facts);
  }
  const status = error.code === "CANCELLED" ? "cancelled" : "error";
  const { ran, ms } = facts;
  const header: ResultHeader = { ...named(to), status, code: error.code, ...(ran === false && { ran }), ms };
  return sealed(header, body, error.message, facts.effect);
}

/** The outcome of a call of which only the header is left: how it ended is known, its answer is not. */
export function bodilessOutcome(to: Addressee, { status, code, exit, preview, ms }: ResultHeader): Outcome {
  const how = code ?? (exit === undefined ? status : `${status}, exit code ${exit}`);
  const error: ErrorShape = {
    code: "OUTCOME_UNKNOWN",
    message: `The call ended (${how}), but its answer is no longer kept`,
    hint: "Check what it changed before you call it again; it is never run again automatically",
    hop: "agent",
    details: { status, ...(code && { code }), ...(exit !== undefined && { exit_code: exit }), preview },
  };
  return errorOutcome(to, error, { ms, effect: true });
}

/** The same answer for another caller's id, or for another call with the same idempotency key. */
export function readdressed(
  { header, body }: Outcome,
  { call, id }: Pick<Addressee, "call" | "id">,
): Outcome {
  const { id: _, ...rest } = JSON.parse(Buffer.from(body).toString()) as Answer;
  const answer = { ...rest, call };
  const again: Answer = id === undefined ? { ...answer, image: answer.image ?? null } : { id, ...answer };
  const bytes = bytesOf(again);
  if (header.call === call) return { header, body: bytes };
  const { sha256, ...others } = header;
  return {
    header: { ...others, call, ...(sha256 && { sha256: hash("sha256", bytes, "hex") }) },
    body: bytes,
  };
}

function named({ call, tool }: Addressee): Pick<ResultHeader, "call" | "tool"> {
  return tool === undefined ? { call } : { call, tool: tool.slice(0, 128) };
}

function sealed(header: ResultHeader, body: Uint8Array, output: string, effect: boolean): Outcome {
  if (!effect) return { header, body };
  return {
    header: { ...header, sha256: hash("sha256", body, "hex"), preview: answerPreview(header.tool, output) },
    body,
  };
}

function bytesOf(answer: Answer): Uint8Array {
  return Buffer.from(JSON.stringify(answer));
}

function tooLarge(bytes: number): MatrxError {
  return agentError(
    "PAYLOAD_TOO_LARGE",
    `The tool ran, but its answer has ${bytes} bytes; at most ${LIMITS.resultFrameBytes} can be sent`,
    {
      hint: "Ask for less at once: a range, a filter, or a smaller limit",
      details: { bytes, limit_bytes: LIMITS.resultFrameBytes },
    },
  );
}

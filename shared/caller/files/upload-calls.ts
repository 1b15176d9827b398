/** Calls of the tools for uploads, made for an HTTP request. */
import * as z from "zod";
import { type ErrorShape, relayError } from "../../errors.ts";
import { makeCallId } from "../../ids.ts";
import { bytesResponse } from "../call-response.ts";
import type { CallerPort, FilePort, RestAnswer, WantedCall } from "../port.ts";
import { problemOfShape } from "../problem.ts";
import { idempotencyKeyOf, newCall } from "../request.ts";
import { answerResponse } from "../tools.ts";

/** What `Upload`, `UploadAppend` and `UploadInfo` say of an upload. */
export const uploadSchema = z.object({
  upload: z.string(),
  path: z.string(),
  offset: z.number(),
  expires: z.iso.datetime(),
  size: z.number().optional(),
  /** The file is in place. */
  finished: z.boolean().optional(),
});
export type UploadFacts = z.infer<typeof uploadSchema>;

/** What `UploadCommit` says of the file. */
const committedSchema = z.object({
  path: z.string(),
  created: z.boolean(),
  etag: z.string(),
  sha256: z.string(),
});
export type Committed = z.infer<typeof committedSchema>;

/**
 * What came of a call: what its tool said, or the response that says why not. `error`: it succeeded, but the bytes did not
 * all arrive.
 */
export type Told<Facts> =
  | { readonly facts: Facts; readonly call: string; readonly error?: ErrorShape }
  | { readonly response: Response };

/** Calls a tool, and sends it the request's body. */
export async function sendBytes(
  port: FilePort,
  request: Request,
  tool: "Upload" | "UploadAppend",
  input: Record<string, unknown>,
): Promise<Told<UploadFacts>> {
  const wanted: WantedCall = { tool, input: JSON.stringify(input), ...newCall(request) };
  const { answer, end } = await port.callWithBytes(wanted, request.body ?? undefined);
  const told = await toldBy(port, answer, uploadSchema);
  if ("response" in told || !end) return told;
  if ("error" in end) return { ...told, error: end.error };
  const { offset = told.facts.offset } = z.object({ offset: z.number().optional() }).parse(end.trailer);
  return { ...told, facts: { ...told.facts, offset } };
}

/** Begins an upload without bytes. */
export async function beginUpload(
  port: CallerPort,
  request: Request,
  input: Record<string, unknown>,
): Promise<Told<UploadFacts>> {
  const wanted: WantedCall = {
    ...{ tool: "Upload", input: JSON.stringify(input), key: idempotencyKeyOf(request) },
    ...newCall(request),
  };
  return await toldBy(port, await port.call(wanted), uploadSchema);
}

/** How far an upload is. */
export async function infoOf(port: CallerPort, upload: string): Promise<Told<UploadFacts>> {
  return await toldBy(port, await callStep(port, "UploadInfo", upload), uploadSchema);
}

/** Puts a complete upload into place. It may take longer than a request: then the response names the call. */
export async function commitUpload(port: CallerPort, upload: string): Promise<Told<Committed>> {
  const answer = await callStep(port, "UploadCommit", upload);
  if (answer.kind === "pending") return { response: await answerResponse(port, answer, undefined) };
  return await toldBy(port, answer, committedSchema);
}

export function callStep(
  port: CallerPort,
  tool: "UploadInfo" | "UploadCommit" | "UploadAbort",
  upload: string,
): Promise<RestAnswer> {
  return port.call({ tool, input: JSON.stringify({ upload }), call: makeCallId() });
}

/** Throws an error of zod if the device says what no agent of ours does. */
async function toldBy<Schema extends z.ZodType>(
  port: CallerPort,
  answer: RestAnswer,
  schema: Schema,
): Promise<Told<z.infer<Schema>>> {
  if (answer.kind === "pending") {
    await port.cancelCall(answer.call);
    return { response: problemOfShape(NOT_ALLOWED_IN_TIME) };
  }
  if (answer.kind === "refused" || answer.status !== "success")
    return { response: await answerResponse(port, answer, undefined) };
  const { metadata } = (await bytesResponse(answer.body).json()) as { metadata?: unknown };
  return { facts: schema.parse(metadata), call: answer.call };
}

const NOT_ALLOWED_IN_TIME = relayError(
  "TIMEOUT",
  "The device did not answer in time, or nobody allowed the upload",
  {
    hint: "Send it again, when somebody who may allow it is there",
  },
).shape();

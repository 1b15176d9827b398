/** Routes for resumable uploads, as tus 1.0 has them (https://tus.io/protocols/resumable-upload). */
import type { HonoRequest } from "hono";
import * as z from "zod";
import { problemSchema } from "../../api.ts";
import { MatrxError, relayError } from "../../errors.ts";
import { answerHeaders } from "../call-response.ts";
import type { FilePort } from "../port.ts";
import { problemOfShape } from "../problem.ts";
import type { CallerRoute } from "../route.ts";
import { answerResponse } from "../tools.ts";
import {
  bytesIn,
  checksumOf,
  isSwitchedOn,
  metadataOf,
  refuseExtensions,
  TUS_BYTES,
  TUS_OPTIONS,
  TUS_VERSION,
  targetOf,
} from "./tus-headers.ts";
import { wrongHeader } from "./upload.ts";
import {
  beginUpload,
  callStep,
  commitUpload,
  infoOf,
  sendBytes,
  type UploadFacts,
  uploadSchema,
} from "./upload-calls.ts";

const OVERRIDE = "X-HTTP-Method-Override";
const header = (description: string, example: string) => ({ schema: z.string(), description, example });
const RESUMABLE = { "Tus-Resumable": { ...header("The protocol's version", TUS_VERSION), required: true } };
const OFFSET = { "Upload-Offset": header("How many bytes have arrived", "1048576") };
const CHECKSUM = {
  "Upload-Checksum": header("SHA-1 or SHA-256 of the body, in Base64", "sha1 Lve95gjOVATpfV8EL5X4nxwjKHE="),
};
const problem = (description: string) => ({
  description,
  other: { "application/problem+json": problemSchema },
});
const WRONG_VERSION = { 412: problem("Another version of the protocol") };
const WRONG_TYPE = { 415: problem(`The body is not ${TUS_BYTES}`) };
const ERRORS = [
  ...(["NOT_FOUND", "CONFLICT", "TOOL_EXECUTION_FAILED", "DEVICE_OFFLINE"] as const),
  ...(["TIMEOUT", "INVALID_PARAMETERS", "INVALID_MESSAGE"] as const),
];
const SHARED = { tag: "Files", access: "caller", errors: ERRORS } as const;

export const tusRoutes: readonly CallerRoute<FilePort>[] = [
  {
    ...{ ...SHARED, method: "OPTIONS", path: "/uploads", id: "getUploadOptions" },
    summary: "What resumable uploads can do here",
    answers: {
      204: { description: "See its headers `Tus-Version`, `Tus-Extension` and `Tus-Checksum-Algorithm`" },
    },
    answer: () => withVersion(new Response(null, { status: 204, headers: TUS_OPTIONS })),
  },
  {
    ...{ ...SHARED, method: "POST", path: "/uploads", id: "beginUpload" },
    summary: "Begin a resumable upload (tus 1.0)",
    description:
      "`Upload-Metadata` names the target: `path`, or `folder` and `filename`; it may also have `sha256` in hexadecimal, `modified`, `overwrite` and `create_directories`. The file has its name when the last byte has arrived, and not before. What has arrived is kept for a day. A body of the type `application/offset+octet-stream` is its first bytes.",
    headers: {
      ...RESUMABLE,
      "Upload-Length": header("The file's size in bytes", "1048576"),
      "Upload-Metadata": header("Names, each with its value in Base64", "path L2hvbWUvYW5uL2EudHh0"),
    },
    answers: {
      ...{ ...WRONG_VERSION, ...WRONG_TYPE },
      201: {
        description: "It was begun, or with all bytes already finished",
        headers: {
          ...OFFSET,
          Location: { schema: z.string(), description: "Where it continues", required: true },
        },
      },
    },
    answer: tus("POST", begin),
  },
  {
    ...{ ...SHARED, method: "GET", path: "/uploads/{upload}", id: "getUpload" },
    summary: "How far a resumable upload is",
    description: "HEAD has the same headers. An upload that has all its bytes is finished by this.",
    headers: RESUMABLE,
    answers: {
      ...WRONG_VERSION,
      200: {
        description: "How far it is",
        schema: uploadSchema,
        example: {
          upload: "upload_0123456789abcdefghjk",
          path: "/home/ann/a.txt",
          offset: 1048576,
          size: 4194304,
          expires: "2026-02-13T10:30:00.000Z",
        },
        headers: OFFSET,
      },
    },
    answer: lookForClients,
  },
  {
    ...{ ...SHARED, method: "PATCH", path: "/uploads/{upload}", id: "continueUpload" },
    summary: "Continue a resumable upload",
    description:
      "The body's type is `application/offset+octet-stream`. What arrived is kept if the request breaks off, unless it has a checksum. The last byte finishes the upload.",
    headers: { ...RESUMABLE, ...OFFSET, ...CHECKSUM },
    answers: {
      ...{ ...WRONG_VERSION, ...WRONG_TYPE },
      204: { description: "They have arrived", headers: OFFSET },
      460: problem("The bytes have another checksum, and were not kept"),
    },
    answer: tus("PATCH", append),
  },
  {
    ...{ ...SHARED, method: "DELETE", path: "/uploads/{upload}", id: "removeUpload" },
    summary: "Remove a resumable upload",
    headers: RESUMABLE,
    answers: { ...WRONG_VERSION, 204: { description: "It is gone, with what had arrived" } },
    answer: tus("DELETE", remove),
  },
  {
    ...{ ...SHARED, method: "POST", path: "/uploads/{upload}", id: "overrideUpload" },
    summary: "Continue, look at or remove a resumable upload, without PATCH, HEAD and DELETE",
    description:
      "For programs whose network lets only GET and POST through: `X-HTTP-Method-Override` says what is meant.",
    headers: {
      ...{ ...RESUMABLE, ...OFFSET, ...CHECKSUM },
      [OVERRIDE]: { ...header("PATCH, HEAD or DELETE", "PATCH"), required: true },
    },
    answers: {
      ...{ ...WRONG_VERSION, ...WRONG_TYPE },
      200: { description: "How far it is: see its headers", headers: OFFSET },
      204: { description: "The bytes have arrived, or the upload is gone", headers: OFFSET },
      460: problem("The bytes have another checksum, and were not kept"),
    },
    answer: overridden,
  },
];

type Handler = (port: FilePort, request: HonoRequest) => Promise<Response>;

/** Requires the protocol's version, and that the request means this method; says the version in every answer. */
function tus(method: string, handle: Handler): Handler {
  return async (port, request) => {
    const { headers } = request.raw;
    const version = headers.get("Tus-Resumable");
    try {
      if (version === null && request.method !== "GET") throw wrongHeader("Tus-Resumable", "is missing");
      if (version !== null && version !== TUS_VERSION) return withVersion(await wrongVersion());
      if (meantBy(request) !== method)
        throw wrongHeader(OVERRIDE, "must come with POST, and fit the address");
      return withVersion(await handle(port, request));
    } catch (error) {
      if (error instanceof MatrxError) return withVersion(problemOfShape(error.shape()));
      throw error;
    }
  };
}

/** The method that a request means, whatever the one is that its network let through. */
function meantBy(request: HonoRequest): string {
  return request.raw.headers.get(OVERRIDE)?.trim().toUpperCase() ?? request.method;
}

/** No browser sends a form with that header, and GET changes nothing: only POST may mean another method. */
async function overridden(port: FilePort, request: HonoRequest): Promise<Response> {
  const meant = meantBy(request);
  if (meant === "DELETE") return tus("DELETE", remove)(port, request);
  if (meant === "HEAD") return withoutBody(await lookForClients(port, request));
  return tus("PATCH", append)(port, request);
}

/** Clients that are told of an error by HEAD begin again from the first byte; at 423 they wait. So it is said of what passes. */
async function lookForClients(port: FilePort, request: HonoRequest): Promise<Response> {
  const method = meantBy(request);
  const response = await tus(method === "HEAD" ? "HEAD" : "GET", look)(port, request);
  const waits = method === "HEAD" && PASSING.has(response.status);
  return waits ? await withStatus(response, 423, "Locked") : response;
}

const PASSING: ReadonlySet<number> = new Set([409, 429, 502, 503, 504]);

async function begin(port: FilePort, { raw }: HonoRequest): Promise<Response> {
  refuseExtensions(raw);
  const metadata = metadataOf(raw);
  const size = bytesIn(raw, "Upload-Length");
  const input = {
    ...{ path: targetOf(metadata), size, sha256: metadata.get("sha256"), modified: metadata.get("modified") },
    overwrite: isSwitchedOn(metadata, "overwrite", "true"),
    create_directories: isSwitchedOn(metadata, "create_directories", "false"),
  };
  const hasBytes = raw.headers.get("Content-Type") === TUS_BYTES;
  if (!hasBytes && Number(raw.headers.get("Content-Length") ?? 0) > 0) return wrongType();
  if (hasBytes && checksumOf(raw)) throw wrongHeader("Upload-Checksum", "is understood with PATCH only");
  const begun = hasBytes ? await sendBytes(port, raw, "Upload", input) : await beginUpload(port, raw, input);
  if ("response" in begun) return begun.response;
  const { facts, call } = begun;
  const headers = {
    ...answerHeaders(call, undefined),
    ...headersOf(facts),
    Location: locationOf(port, facts),
  };
  if (begun.error) return withHeaders(problemOfShape(begun.error), { Location: headers.Location });
  return await finished(port, facts, size, new Response(null, { status: 201, headers }));
}

async function look(port: FilePort, request: HonoRequest): Promise<Response> {
  const told = await infoOf(port, idIn(request));
  if ("response" in told) return told.response;
  const { facts } = told;
  const headers = { ...headersOf(facts), "Cache-Control": "no-store" };
  return await finished(port, facts, facts.size, Response.json(facts, { headers }));
}

async function append(port: FilePort, request: HonoRequest): Promise<Response> {
  const { raw } = request;
  if (raw.headers.get("Content-Type") !== TUS_BYTES) return wrongType();
  const input = { upload: idIn(request), offset: bytesIn(raw, "Upload-Offset"), checksum: checksumOf(raw) };
  const sent = await sendBytes(port, raw, "UploadAppend", input);
  if ("response" in sent) return sent.response;
  const { facts, call, error } = sent;
  if (error) {
    const response = problemOfShape(error, { call, device: port.device });
    return error.details?.reason === "checksum"
      ? await withStatus(response, 460, "Checksum mismatch")
      : response;
  }
  const headers = { ...answerHeaders(call, undefined), ...headersOf(facts) };
  return await finished(port, facts, facts.size, new Response(null, { status: 204, headers }));
}

async function remove(port: FilePort, request: HonoRequest): Promise<Response> {
  const answer = await callStep(port, "UploadAbort", idIn(request));
  if (answer.kind !== "answer" || answer.status !== "success")
    return await answerResponse(port, answer, undefined);
  return new Response(null, { status: 204, headers: answerHeaders(answer.call, undefined) });
}

/** The response, once an upload that has all its bytes is in place: nobody is told that it is complete before. */
async function finished(
  port: FilePort,
  { upload, offset, finished: isDone }: UploadFacts,
  size: number | undefined,
  response: Response,
): Promise<Response> {
  if (offset !== size || isDone) return response;
  const committed = await commitUpload(port, upload);
  if (!("response" in committed)) return response;
  // Accepted is not done: a client would take any 2xx for the end.
  return committed.response.status === 202 ? problemOfShape(STILL_COMMITTING) : committed.response;
}

function idIn(request: HonoRequest): string {
  return request.param("upload") ?? "";
}

function headersOf({ offset, size, expires }: UploadFacts): Record<string, string> {
  return {
    "Upload-Offset": String(offset),
    ...(size !== undefined && { "Upload-Length": String(size) }),
    "Upload-Expires": new Date(expires).toUTCString(),
  };
}

function locationOf({ device }: FilePort, { upload }: UploadFacts): string {
  return `/v1/devices/${device}/uploads/${upload}`;
}

function withVersion(response: Response): Response {
  return withHeaders(response, { "Tus-Resumable": TUS_VERSION });
}

function withHeaders(response: Response, headers: Record<string, string>): Response {
  const changed = new Response(response.body, response);
  for (const [name, value] of Object.entries(headers)) changed.headers.set(name, value);
  return changed;
}

function withoutBody({ status, headers }: Response): Response {
  return new Response(null, { status, headers });
}

async function withStatus(response: Response, status: number, title: string): Promise<Response> {
  const problem = { ...((await response.json()) as object), status, title };
  return new Response(JSON.stringify(problem), { status, headers: response.headers });
}

async function wrongVersion(): Promise<Response> {
  const error = relayError("INVALID_PARAMETERS", `Tus-Resumable: must be ${TUS_VERSION}`, {
    hint: "Use a client of tus 1.0",
    details: { field: "Tus-Resumable" },
  });
  const response = await withStatus(problemOfShape(error.shape()), 412, "Precondition failed");
  return withHeaders(response, { "Tus-Version": TUS_VERSION });
}

function wrongType(): Promise<Response> {
  const error = wrongHeader("Content-Type", `must be ${TUS_BYTES}`);
  return withStatus(problemOfShape(error.shape()), 415, "Unsupported media type");
}

const STILL_COMMITTING = relayError(
  "TIMEOUT",
  "All bytes have arrived, and the file is being put into place",
  {
    hint: "Ask how far the upload is; when it is not there any more, it is finished",
  },
).shape();

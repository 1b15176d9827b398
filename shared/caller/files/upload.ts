/** The route that stores the body of a request as a file of a device. */
import type { HonoRequest } from "hono";
import * as z from "zod";
import { problemSchema } from "../../api.ts";
import { type MatrxError, relayError } from "../../errors.ts";
import { answerHeaders } from "../call-response.ts";
import { CALL_HEADERS } from "../parts.ts";
import type { FilePort } from "../port.ts";
import { problemOfShape } from "../problem.ts";
import type { CallerRoute } from "../route.ts";
import { base64Of, digestOf } from "./digest.ts";
import { pathIn } from "./path.ts";
import { type Committed, commitUpload, sendBytes } from "./upload-calls.ts";

const etag = { schema: z.string(), description: "The file's entity tag", required: true };
const FAILED = {
  description: "The file is another than the request names",
  other: { "application/problem+json": problemSchema },
};

const switched = (description: string) => ({ schema: z.enum(["true", "false"]), description });

export const uploadRoute: CallerRoute<FilePort> = {
  method: "PUT",
  path: "/files/{path}",
  id: "putFile",
  tag: "Files",
  summary: "Upload a file",
  description:
    "The body is the file's content. It is collected beside the file and put into place in one step when all of it has arrived; a request that breaks off leaves nothing. An existing file keeps its mode and owner. With `If-None-Match: *` nothing is replaced, with `If-Match` only that version.",
  access: "caller",
  query: {
    create_directories: switched("Create missing parent directories"),
    in_place: switched(
      "Write into a file that cannot be replaced, for its hard links, owner or attributes; a failure can leave half of it",
    ),
  },
  headers: {
    ...CALL_HEADERS,
    "If-Match": {
      schema: z.string(),
      description: "Replace only this version: one strong entity tag",
      example: '"5891b5b5"',
    },
    "If-None-Match": { schema: z.string(), description: "`*`: only if nothing is there", example: "*" },
    "Repr-Digest": {
      schema: z.string(),
      description: "The content's SHA-256, which is compared (RFC 9530); `Content-Digest` is the same here",
      example: "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:",
    },
  },
  bytes: { "application/octet-stream": "The content" },
  answers: {
    201: {
      description: "The file was created",
      headers: { ETag: etag, Location: { schema: z.string(), description: "Where it is", required: true } },
    },
    204: { description: "The file was replaced", headers: { ETag: etag } },
    412: FAILED,
  },
  errors: [
    "NOT_FOUND",
    "CONFLICT",
    "TOOL_EXECUTION_FAILED",
    "DEVICE_OFFLINE",
    "TIMEOUT",
    "INVALID_PARAMETERS",
    "INVALID_MESSAGE",
  ],
  answer: store,
};

async function store(port: FilePort, { raw }: HonoRequest): Promise<Response> {
  const input = {
    ...{ path: pathIn(raw), resumable: false, size: lengthOf(raw), sha256: digestOf(raw) },
    ...conditionOf(raw),
    ...{
      create_directories: isSwitchedOn(raw, "create_directories"),
      in_place: isSwitchedOn(raw, "in_place"),
    },
  };
  const sent = await sendBytes(port, raw, "Upload", input);
  if ("response" in sent) return asCondition(sent.response);
  if (sent.error) return problemOfShape(sent.error, { call: sent.call, device: port.device });
  const committed = await commitUpload(port, sent.facts.upload);
  if ("response" in committed) return asCondition(committed.response);
  return storedResponse(committed.facts, { call: sent.call, url: raw.url });
}

function storedResponse(
  { created, etag, sha256 }: Committed,
  { call, url }: { call: string; url: string },
): Response {
  const headers = {
    ...answerHeaders(call, undefined),
    ETag: `"${etag}"`,
    "Repr-Digest": `sha-256=:${base64Of(sha256)}:`,
    ...(created && { Location: new URL(url).pathname }),
  };
  return new Response(null, { status: created ? 201 : 204, headers });
}

/** What the request says of the file that it replaces. Throws MatrxError. */
function conditionOf({ headers }: Request): { if_etag?: string; if_absent?: boolean } {
  const [match, noneMatch] = [headers.get("If-Match"), headers.get("If-None-Match")];
  for (const name of ["Content-Range", "If-Unmodified-Since"])
    if (headers.has(name))
      throw wrongHeader(name, "is not understood here, and ignoring it could overwrite something");
  if (headers.has("Content-Encoding"))
    throw wrongHeader("Content-Encoding", "must be absent: content is stored as it is sent");
  if (noneMatch !== null && (noneMatch.trim() !== "*" || match !== null))
    throw wrongHeader("If-None-Match", "must be `*`, without If-Match");
  if (noneMatch !== null) return { if_absent: true };
  if (match === null) return {};
  const [, tag] = /^\s*"([^"]{1,128})"\s*$/.exec(match) ?? [];
  if (tag === undefined) throw wrongHeader("If-Match", "must be one strong entity tag in quotation marks");
  return { if_etag: tag };
}

function lengthOf({ headers }: Request): number | undefined {
  const length = headers.get("Content-Length");
  return length === null ? undefined : Number(length);
}

function isSwitchedOn({ url }: Request, name: string): boolean {
  const said = new URL(url).searchParams.get(name) ?? "false";
  if (said === "true" || said === "false") return said === "true";
  throw wrongHeader(name, "must be `true` or `false`");
}

/** A refusal for what the request's condition says is 412 (RFC 9110, 13.1). */
async function asCondition(response: Response): Promise<Response> {
  if (response.status !== 409) return response;
  const problem = (await response.json()) as { metadata?: { reason?: unknown } };
  const isCondition = ["etag", "exists"].includes(String(problem.metadata?.reason));
  if (!isCondition) return new Response(JSON.stringify(problem), response);
  const failed = { ...problem, status: 412, title: "Precondition failed" };
  return new Response(JSON.stringify(failed), { status: 412, headers: response.headers });
}

export function wrongHeader(field: string, message: string): MatrxError {
  return relayError("INVALID_PARAMETERS", `${field}: ${message}`, { details: { field } });
}

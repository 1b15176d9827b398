/** Routes that send a file of a device, a part of it, or a folder as a zip. */
import * as z from "zod";
import { relayError } from "../../errors.ts";
import { makeCallId } from "../../ids.ts";
import { answerHeaders, bytesResponse } from "../call-response.ts";
import { CALL_HEADERS } from "../parts.ts";
import type { FilePort, RestAnswer, WantedCall } from "../port.ts";
import { problemOfShape } from "../problem.ts";
import { newCall } from "../request.ts";
import type { CallerRoute } from "../route.ts";
import { answerResponse } from "../tools.ts";
import { CONDITIONS, isConditional, preconditionStatus, rangeOf } from "./conditions.ts";
import { base64Of } from "./digest.ts";
import { pathIn } from "./path.ts";

/** What may be in a header; a device could say anything. */
const MEDIA_TYPE = /^[\w.+-]{1,127}\/[\w.+-]{1,127}(?:; ?charset=[\w-]{1,32})?$/;

/** A page of the relay could load it as its own script, whatever the sandbox of a document says. */
const SCRIPT = /(?:ecma|java|j|live)script/i;

/** What FileInfo and Download say of a file or folder. */
const factsSchema = z.object({
  kind: z.enum(["file", "directory"]),
  path: z.string(),
  /** A device could send half a surrogate pair, which no header can carry. */
  name: z.string().transform((name) => name.toWellFormed()),
  size: z.number().optional(),
  modified: z.iso.datetime(),
  etag: z.string().optional(),
  sha256: z.string().optional(),
  media_type: z.string().regex(MEDIA_TYPE).catch("application/octet-stream"),
  offset: z.number().optional(),
  length: z.number().optional(),
  /** What the conditions of the call come to. */
  status: z.literal([200, 206, 304, 412, 416]).optional(),
});
type Facts = z.infer<typeof factsSchema>;
/** What the headers of a file or folder tell. */
export type FileFacts = Pick<Facts, "kind" | "name" | "modified" | "etag" | "sha256" | "media_type">;

const BYTES = { "application/octet-stream": "The bytes" } as const;

const DESCRIPTION =
  "`path` is absolute, without its leading slash, or begins with `~/` or a drive. A folder is sent as a zip. Ranges, entity tags and conditional requests are those of RFC 9110; the entity tag is the SHA-256 of the content, but for files over 1 GiB. If the file changes while it is sent, the response breaks off.";

export const downloadRoute: CallerRoute<FilePort> = {
  method: "GET",
  path: "/files/{path}",
  id: "getFile",
  tag: "Files",
  summary: "Download a file, or a folder as a zip",
  description: DESCRIPTION,
  access: "caller",
  query: {
    inline: {
      schema: z.literal("true"),
      description: "Let a browser show it, confined by a sandbox, instead of saving it",
    },
  },
  headers: {
    ...CALL_HEADERS,
    Range: { schema: z.string(), description: "One range of bytes", example: "bytes=0-1023" },
  },
  answers: {
    200: { description: "The whole content", other: BYTES },
    206: { description: "The range", other: BYTES },
    304: { description: "It is still the version that the caller has" },
  },
  errors: [
    "NOT_FOUND",
    "CONFLICT",
    "TOOL_EXECUTION_FAILED",
    "DEVICE_OFFLINE",
    "TIMEOUT",
    "INVALID_PARAMETERS",
  ],
  answer: (port, { raw }) => fileResponse(port, raw, { path: pathIn(raw) }),
};

/** A file or folder of a device. */
interface Place {
  readonly path: string;
  /** Refuse the path if there is a symbolic link in it. */
  readonly follow_links?: false;
}

/** Answers a GET or HEAD of a file or folder. */
export function fileResponse(port: FilePort, request: Request, place: Place): Promise<Response> {
  return request.method === "HEAD" ? look(port, request, place) : send(port, request, place);
}

/** Without the content. A folder's zip has no length until it is made. */
async function look(port: FilePort, request: Request, place: Place): Promise<Response> {
  const found = await factsOf(port, request, place);
  if (found instanceof Response) return found;
  const { facts, headers } = found;
  const status = preconditionStatus(request.headers, versionOf(facts));
  if (status) return new Response(null, { status, headers });
  if (facts.size !== undefined) headers["Content-Length"] = String(facts.size);
  return new Response(null, { headers });
}

/** One call of the device, which judges the conditions itself; two where its agent is too old to do that. */
async function send(port: FilePort, request: Request, place: Place): Promise<Response> {
  if (!isConditional(request.headers)) return download(port, request, place);
  const wanted = newCall(request);
  const conditions = conditionsIn(request.headers);
  const opened = await openFile(port, wanted, { ...place, conditions }, "conditions");
  if (opened instanceof Response) return opened.status === 400 ? sendAfterLook(port, request, place) : opened;
  const { status, size = 0 } = opened.facts;
  if (status === 200 || status === 206) return sentResponse(port, opened, { request, wanted, status });
  await opened.bytes.cancel();
  if (status === undefined) return sendAfterLook(port, request, place);
  if (status === 416) return unsatisfiable(size);
  return new Response(null, { status, headers: headersOf(opened, { request, wanted }) });
}

function conditionsIn(headers: Headers): NonNullable<Part["conditions"]> {
  const given = CONDITIONS.map((name) => [name, headers.get(name)] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== null));
}

/** For agents that do not judge conditions: they refuse the input, or leave them out. */
async function sendAfterLook(port: FilePort, request: Request, place: Place): Promise<Response> {
  const found = await factsOf(port, request, place);
  if (found instanceof Response) return found;
  const { facts, headers } = found;
  const version = versionOf(facts);
  const status = preconditionStatus(request.headers, version);
  if (status) return new Response(null, { status, headers });
  const { size, etag } = facts;
  const range = size === undefined ? "whole" : rangeOf(request.headers, version, size);
  if (range === "none") return unsatisfiable(size ?? 0);
  const part = range === "whole" ? {} : range;
  return download(port, request, { ...place, ...part, ...(etag !== undefined && { if_etag: etag }) });
}

/** A file or folder that is being sent. */
export interface OpenedFile {
  readonly answer: Extract<RestAnswer, { kind: "answer" }>;
  readonly facts: Facts;
  readonly bytes: ReadableStream<Uint8Array>;
}

/** Calls Download, if the device's has the parameter `needs`; resolves with what it sends, or with the response that says why it does not. */
export async function openFile(
  port: FilePort,
  wanted: Omit<WantedCall, "tool" | "input">,
  part: Part,
  needs?: keyof Part,
): Promise<OpenedFile | Response> {
  const call: WantedCall = { ...{ tool: "Download", input: JSON.stringify(part) }, ...wanted };
  const { answer, bytes } = await port.callForBytes(call, needs);
  if (!bytes || answer.kind !== "answer") return answerResponse(port, answer, wanted.session);
  return { answer, facts: await readFacts(answer), bytes };
}

interface Part extends Place {
  readonly offset?: number;
  readonly length?: number;
  readonly if_etag?: string;
  readonly conditions?: Partial<Record<(typeof CONDITIONS)[number], string>>;
}

interface Asked {
  readonly request: Request;
  readonly wanted: Pick<WantedCall, "session">;
}

async function download(port: FilePort, request: Request, part: Part): Promise<Response> {
  const wanted = newCall(request);
  const opened = await openFile(port, wanted, part);
  if (opened instanceof Response) return opened;
  const status = part.offset === undefined ? 200 : 206;
  return sentResponse(port, opened, { request, wanted, status });
}

function sentResponse(port: FilePort, opened: OpenedFile, asked: Asked & { status: 200 | 206 }): Response {
  const { facts, bytes } = opened;
  const headers = headersOf(opened, asked);
  const { size, offset = 0, length } = facts;
  if (length === undefined) return bytesResponse(bytes, headers);
  headers["Content-Length"] = String(length);
  const { status } = asked;
  if (status === 206) headers["Content-Range"] = `bytes ${offset}-${offset + length - 1}/${size}`;
  const body = port.sized(bytes, length) as ConstructorParameters<typeof Response>[0];
  return new Response(body, { status, headers });
}

function headersOf({ answer, facts }: OpenedFile, { request, wanted }: Asked): Record<string, string> {
  return { ...answerHeaders(answer.call, wanted.session), ...fileHeaders(facts, request) };
}

/** What is at the path, with the headers that every answer about it has; or why that cannot be said. */
export async function factsOf(
  port: FilePort,
  request: Request,
  place: Place,
): Promise<{ facts: Facts; headers: Record<string, string> } | Response> {
  const input = JSON.stringify(place);
  const answer = await port.call({ tool: "FileInfo", input, call: makeCallId() });
  if (answer.kind !== "answer" || answer.status !== "success") return answerResponse(port, answer, undefined);
  const facts = await readFacts(answer);
  return { facts, headers: { ...answerHeaders(answer.call, undefined), ...fileHeaders(facts, request) } };
}

/** Throws an error of zod if the device says what no agent of ours does. */
async function readFacts(answer: RestAnswer): Promise<Facts> {
  if (answer.kind !== "answer") throw new Error("there is no answer");
  const { metadata } = (await bytesResponse(answer.body).json()) as { metadata?: unknown };
  return factsSchema.parse(metadata);
}

/**
 * What a device serves never runs on the relay's origin: it is saved, or shown in a sandbox without scripts; a script is
 * plain text. The name is given in ASCII, and in UTF-8 (RFC 6266).
 */
export function fileHeaders(facts: FileFacts, { url }: Request): Record<string, string> {
  const { kind, etag, sha256, media_type, modified } = facts;
  const name = kind === "directory" ? `${facts.name || "files"}.zip` : facts.name;
  const how = new URL(url).searchParams.get("inline") === "true" ? "inline" : "attachment";
  const plain = name.replace(/[^ -~]|["\\%]/g, "_");
  return {
    "Content-Type": SCRIPT.test(media_type) ? "text/plain; charset=utf-8" : media_type,
    "Content-Disposition": `${how}; filename="${plain}"; filename*=UTF-8''${rfc5987(name)}`,
    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    // A proxy that compresses makes entity tags weak: then nothing is continued, or replaced by `If-Match`.
    "Cache-Control": "private, no-cache, no-transform",
    "Last-Modified": new Date(modified).toUTCString(),
    "Accept-Ranges": kind === "file" ? "bytes" : "none",
    ...(etag !== undefined && { ETag: `"${etag}"` }),
    ...(sha256 !== undefined && { "Repr-Digest": `sha-256=:${base64Of(sha256)}:` }),
  };
}

function rfc5987(text: string): string {
  const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replace(/['()*]/g, percent);
}

function versionOf({ etag, modified }: Facts) {
  return { etag, modified: Date.parse(modified) };
}

export function unsatisfiable(size: number): Response {
  const error = relayError("INVALID_PARAMETERS", `Range: the file has only ${size} bytes`, {
    hint: "Ask for a range that begins before its end",
    details: { total: size },
  });
  const response = problemOfShape(error.shape());
  response.headers.set("Content-Range", `bytes */${size}`);
  return new Response(response.body, { status: 416, headers: response.headers });
}

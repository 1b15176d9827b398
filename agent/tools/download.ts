/** Download: sends a file, a part of one, or a folder as a zip, through the stream that the call opens. */
import { CONDITIONS, preconditionStatus, rangeOf } from "@matrx/shared/caller/files/conditions.ts";
import * as z from "zod";
import { stampOf } from "../core/approved-state.ts";
import type { ServeStream } from "../core/byte-stream.ts";
import { defineTool, type ToolResult } from "../core/tool.ts";
import type { FileAccess, Files } from "../fs/access.ts";
import type { Digests } from "../transfers/digests.ts";
import { besideConditionsError, needsStreamError, otherEtagError, rangeError } from "../transfers/errors.ts";
import { sendFile } from "../transfers/send-file.ts";
import { sendFolder } from "../transfers/send-folder.ts";
import { type DescribedTarget, describeTarget } from "../transfers/target.ts";

const header = z.string().max(4096);

const input = z.strictObject({
  path: z.string().min(1).describe("Absolute or relative path of a file or folder"),
  follow_links: z.boolean().optional().describe("false: refuse a path with symbolic links (default true)"),
  offset: z.int().nonnegative().optional().describe("First byte, from 0 (default 0); files only"),
  length: z.int().nonnegative().optional().describe("Number of bytes (default: up to the end); files only"),
  if_etag: z.string().min(1).max(128).optional().describe("Send only if this is still the file's etag"),
  conditions: z
    .partialRecord(z.enum(CONDITIONS), header)
    .optional()
    .describe("Headers of an HTTP request, instead of `offset`, `length` and `if_etag`"),
});

type Input = z.infer<typeof input>;
const PART_FIELDS = ["offset", "length", "if_etag"] as const;
type Part = Pick<Input, (typeof PART_FIELDS)[number]>;

export function downloadTool(files: Files, digests: Digests) {
  return defineTool({
    name: "Download",
    family: "files",
    effect: "read",
    confinable: true,
    description:
      "Send a file, or a part of it, as a stream of bytes; a folder as a zip. For programs, which call it over a WebSocket with `opens`; models use `Read`.",
    details:
      "The stream ends with the number of bytes sent and their SHA-256. If the file changes meanwhile, the stream is reset with `CONFLICT`. In a zip, links stay links; entries that cannot be read, or change while they are sent, are left out and counted in `skipped`.",
    input,
    model: { hidden: true },
    timeoutMs: 120_000,
    prepare: ({ path }) => ({ paths: [{ path, intent: "read", isWhole: true }] }),
    async handle(request, context) {
      if (!context.opensStream) throw needsStreamError("Download");
      const { conditions } = request;
      const other = conditions && PART_FIELDS.find((field) => request[field] !== undefined);
      if (other) throw besideConditionsError(other);
      const access = await files.as(context);
      const target = await describeTarget(access, request, digests, context);
      return conditions ? conditionalAnswer(target, conditions, access) : answerOf(target, request, access);
    },
  });
}

/** Throws MatrxError. */
function answerOf({ place, stat, facts }: DescribedTarget, request: Part, access: FileAccess): ToolResult {
  const { if_etag, offset = 0 } = request;
  if (if_etag !== undefined && if_etag !== facts.etag) throw otherEtagError(place.shown, facts.etag);
  if (facts.kind === "directory") {
    if (offset > 0 || request.length !== undefined)
      throw rangeError(place.shown, "a folder is sent as a whole");
    const output = `Sending ${place.shown} as a zip`;
    return { output, metadata: { ...facts }, stream: sendFolder(access, place) };
  }
  const total = Number(stat.size);
  if (offset > total) throw rangeError(place.shown, `it ends before byte ${offset}`, total);
  const length = Math.min(request.length ?? total, total - offset);
  return {
    output: `Sending ${length} bytes of ${place.shown}`,
    metadata: { ...facts, offset, length, total },
    stream: sendFile(access, place, { offset, length, stamp: stampOf(stat) }),
  };
}

/** What an HTTP server would answer, in `status`: whoever needs no bytes gets none. Throws MatrxError. */
function conditionalAnswer(
  target: DescribedTarget,
  conditions: NonNullable<Input["conditions"]>,
  access: FileAccess,
): ToolResult {
  const { place, stat, facts } = target;
  const headers = { get: (name: (typeof CONDITIONS)[number]) => conditions[name] ?? null };
  const version = { etag: facts.etag, modified: Date.parse(facts.modified) };
  const range = facts.kind === "directory" ? "whole" : rangeOf(headers, version, Number(stat.size));
  const refused = preconditionStatus(headers, version) ?? (range === "none" ? 416 : undefined);
  if (refused || range === "none")
    return {
      output: `Sending nothing of ${place.shown}`,
      metadata: { ...facts, status: refused },
      stream: nothing,
    };
  const sent = answerOf(target, range === "whole" ? {} : range, access);
  return { ...sent, metadata: { ...sent.metadata, status: range === "whole" ? 200 : 206 } };
}

const nothing: ServeStream = async () => ({ bytes: 0 });

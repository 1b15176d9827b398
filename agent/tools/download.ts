/** Download: sends a file, a part of one, or a folder as a zip, through the stream that the call opens. */
import * as z from "zod";
import { stampOf } from "../core/approved-state.ts";
import { defineTool, type ToolResult } from "../core/tool.ts";
import type { FileAccess, Files } from "../fs/access.ts";
import type { Digests } from "../transfers/digests.ts";
import { needsStreamError, otherEtagError, rangeError } from "../transfers/errors.ts";
import { sendFile } from "../transfers/send-file.ts";
import { sendFolder } from "../transfers/send-folder.ts";
import { type DescribedTarget, describeTarget } from "../transfers/target.ts";

const input = z.strictObject({
  path: z.string().min(1).describe("Absolute or relative path of a file or folder"),
  follow_links: z.boolean().optional().describe("false: refuse a path with symbolic links (default true)"),
  offset: z.int().nonnegative().optional().describe("First byte, from 0 (default 0); files only"),
  length: z.int().nonnegative().optional().describe("Number of bytes (default: up to the end); files only"),
  if_etag: z.string().min(1).max(128).optional().describe("Send only if this is still the file's etag"),
});

type Input = z.infer<typeof input>;

export function downloadTool(files: Files, digests: Digests) {
  return defineTool({
    name: "Download",
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
      const access = await files.as(context);
      return answerOf(await describeTarget(access, request, digests, context), request, access);
    },
  });
}

/** Throws MatrxError. */
function answerOf({ place, stat, facts }: DescribedTarget, request: Input, access: FileAccess): ToolResult {
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

/** UploadAppend: continues an upload with the bytes of the stream that the call opens. */
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import type { Files } from "../fs/access.ts";
import { appendFrom, checkOffset } from "../transfers/append.ts";
import { needsStreamError } from "../transfers/errors.ts";
import { uploadIdSchema } from "../transfers/upload-record.ts";
import { needsOfStep, rememberApproval } from "../transfers/upload-target.ts";
import type { Uploads } from "../transfers/uploads.ts";

const input = z.strictObject({
  upload: uploadIdSchema.describe("The id from `Upload`"),
  checksum: z
    .strictObject({ algorithm: z.enum(["sha1", "sha256"]), digest: z.hex() })
    .optional()
    .describe(
      "Of the stream's bytes, in hexadecimal; if it is wrong or the stream breaks, none of them is kept",
    ),
  offset: z.int().nonnegative().describe("How many bytes have arrived, as `UploadInfo` says"),
});

export function uploadAppendTool(files: Files, uploads: Uploads) {
  return defineTool({
    name: "UploadAppend",
    family: "files",
    effect: "write",
    confinable: true,
    description: "Continue an upload with the bytes of a stream, from where it ended. For programs.",
    details:
      "The offset must be right, otherwise the answer is `CONFLICT` with the right one. If the stream breaks, what has arrived is kept. One call at a time.",
    input,
    continues: "Upload",
    model: { hidden: true },
    timeoutMs: 60_000,
    prepare: ({ upload }, { grant }) => needsOfStep(uploads.find(upload, grant), "It continues an upload"),
    async handle({ upload: id, offset, checksum }, context) {
      if (!context.opensStream) throw needsStreamError("UploadAppend");
      const upload = uploads.find(id, context.grant);
      const access = await files.as(context);
      await checkOffset(access, upload, offset);
      if (context.approved) await rememberApproval(uploads, access, upload, context.approved);
      const { path, shown, expires, size } = upload.record;
      return {
        output: `Continuing ${shown} at byte ${offset}`,
        metadata: { upload: id, offset, path, expires: new Date(expires).toISOString(), size },
        stream: appendFrom(uploads, access, upload, { offset, checksum }),
      };
    },
  });
}

/** UploadInfo: how far an upload is. */
import * as z from "zod";
import { defineTool, type ToolResult } from "../core/tool.ts";
import type { Files } from "../fs/access.ts";
import { offsetOf } from "../transfers/append.ts";
import { uploadIdSchema } from "../transfers/upload-record.ts";
import type { FinishedUpload, Uploads } from "../transfers/uploads.ts";

const input = z.strictObject({ upload: uploadIdSchema.describe("The id from `Upload`") });

export function uploadInfoTool(files: Files, uploads: Uploads) {
  return defineTool({
    name: "UploadInfo",
    family: "files",
    effect: "read",
    confinable: true,
    description: "Tell how many bytes of an upload have arrived, and whether it is finished. For programs.",
    input,
    continues: "Upload",
    model: { hidden: true },
    timeoutMs: 30_000,
    prepare({ upload }, { grant }) {
      const { path } = (uploads.finishedBy(upload, grant) ?? uploads.find(upload, grant, { orOwner: true }))
        .record;
      return { paths: [{ path, intent: "write" }], isApproved: true };
    },
    async handle({ upload: id }, context) {
      const finished = uploads.finishedBy(id, context.grant);
      if (finished) return answerOf(finished);
      const upload = uploads.find(id, context.grant, { orOwner: true });
      const offset = await offsetOf(await files.as(context), upload);
      const { path, shown, size, expires } = upload.record;
      return {
        output: `${offset}${size === undefined ? "" : ` of ${size}`} bytes of ${shown} have arrived`,
        metadata: {
          ...{ upload: id, offset, path, expires: new Date(expires).toISOString() },
          ...(size !== undefined && { size }),
        },
      };
    },
  });
}

function answerOf({ record: { id, path, shown, expires }, bytes }: FinishedUpload): ToolResult {
  const times = { expires: new Date(expires).toISOString() };
  return {
    output: `${shown} is in place (${bytes} bytes)`,
    metadata: { upload: id, offset: bytes, size: bytes, path, ...times, finished: true },
  };
}

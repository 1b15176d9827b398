/** UploadAbort: removes an unfinished upload. */
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { explained } from "../fs/errors.ts";
import { uploadIdSchema } from "../transfers/upload-record.ts";
import type { Uploads } from "../transfers/uploads.ts";

const input = z.strictObject({ upload: uploadIdSchema.describe("The id from `Upload`") });

export function uploadAbortTool(uploads: Uploads) {
  return defineTool({
    name: "UploadAbort",
    family: "files",
    effect: "write",
    confinable: true,
    description: "Remove an unfinished upload and what has arrived of it. For programs.",
    input,
    continues: "Upload",
    model: { hidden: true },
    timeoutMs: 30_000,
    // It only deletes what the caller sent: that is possible whatever has been closed since, and nobody need be asked.
    prepare: () => ({ isApproved: true }),
    async handle({ upload: id }, { grant }) {
      const upload = uploads.find(id, grant, { orOwner: true });
      const { path, shown } = upload.record;
      await explained(shown, "remove the upload to", () => uploads.remove(upload));
      return { output: `Removed the upload to ${shown}`, metadata: { upload: id, path } };
    },
  });
}

/** UploadCommit: puts a complete upload into place. */
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import { sha256Schema } from "../edit/errors.ts";
import type { Files } from "../fs/access.ts";
import { commitUpload } from "../transfers/commit.ts";
import type { Digests } from "../transfers/digests.ts";
import { otherDigestError } from "../transfers/errors.ts";
import { uploadIdSchema } from "../transfers/upload-record.ts";
import { needsOfStep } from "../transfers/upload-target.ts";
import type { Uploads } from "../transfers/uploads.ts";

const input = z.strictObject({
  upload: uploadIdSchema.describe("The id from `Upload`"),
  sha256: sha256Schema.optional().describe("The SHA-256 that the whole content must have"),
});

export function uploadCommitTool(files: Files, uploads: Uploads, digests: Digests) {
  return defineTool({
    name: "UploadCommit",
    family: "files",
    effect: "write",
    confinable: true,
    description: "Put a complete upload into place, replacing the target in one step. For programs.",
    details:
      "Size, SHA-256 and everything that `Upload` checked are checked again; with a wrong SHA-256 the upload is removed. An existing file keeps its mode and owner.",
    input,
    continues: "Upload",
    model: { hidden: true },
    timeoutMs: 600_000,
    prepare: ({ upload }, { grant }) => needsOfStep(uploads.find(upload, grant), "It finishes an upload"),
    async handle({ upload: id, sha256 }, context) {
      const upload = uploads.find(id, context.grant);
      const { path, shown, sha256: announced } = upload.record;
      const wanted = sha256?.toLowerCase() ?? announced;
      if (announced !== undefined && wanted !== announced) throw otherDigestError(id);
      const access = await files.as(context);
      const done = await files.mutex.runExclusive(path, () =>
        commitUpload(upload, wanted, { uploads, access, digests, signal: context.signal }),
      );
      context.session.noteSeen(path, { stat: done.stat, sha256: done.sha256 });
      const etag = digests.etagOf(done.stat, done.sha256);
      const { bytes, created, atomic } = done;
      return {
        output: `${created ? "Created" : "Replaced"} ${shown} (${bytes} bytes)`,
        metadata: { path, bytes, created, atomic, etag, sha256: done.sha256 },
      };
    },
  });
}

/** The tool that deletes a file. */
import { TIMES } from "@matrx/shared/limits.ts";
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import type { Files } from "../fs/access.ts";
import { deleteEntry, deletionPreview } from "../trash/delete-entry.ts";

const input = z.strictObject({
  path: z.string().min(1).describe("Absolute or relative path"),
  recursive: z.boolean().optional().describe("Required for a folder that is not empty (default false)"),
  permanent: z.boolean().optional().describe("Not to the trash, but for good (default false)"),
});

export function deleteTool(files: Files) {
  return defineTool({
    name: "Delete",
    family: "files",
    effect: "execute",
    confinable: true,
    description:
      "Delete a file, folder or symlink: to the trash (`Move` restores it), or for good with permanent.",
    details:
      "Deletes a symlink itself, never its target. Refuses the home folder, system folders, mount points and the session's working directory. Returns where it is now.",
    input,
    model: { prompt: "Delete a file or directory (to the trash unless told otherwise)" },
    timeoutMs: TIMES.callMax,
    prepare: ({ path }) => ({ paths: [{ path, intent: "remove", isEntry: true, isWhole: true }] }),
    preview: ({ path, recursive = false, permanent = false }, context) =>
      deletionPreview(files, { path, recursive, permanent, check: () => undefined }, context),
    handle: ({ path, recursive = false, permanent = false }, context) =>
      deleteEntry(files, { path, recursive, permanent, check: () => undefined }, context),
  });
}

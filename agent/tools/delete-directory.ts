/** The tool that deletes a directory. */
import { toolError } from "@matrx/shared/errors.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import type { Files } from "../fs/access.ts";
import type { OpenedEntry } from "../fs/file-handle.ts";
import { toolName } from "../text/tool-names.ts";
import { deleteEntry, deletionPreview } from "../trash/delete-entry.ts";

const input = z.strictObject({
  path: z.string().min(1).describe("Absolute or relative path of the directory to delete"),
  recursive: z
    .boolean()
    .optional()
    .describe("Required if it is not empty: delete everything in it too (default false)"),
  permanent: z
    .boolean()
    .optional()
    .describe("Delete for good instead of moving it to the trash (default false)"),
});

export function deleteDirectoryTool(files: Files) {
  return defineTool({
    name: "delete_directory",
    family: "files",
    effect: "execute",
    confinable: true,
    description: "Delete a directory: to the trash (`Move` restores it), or for good with permanent.",
    details: "Files and symlinks are refused. Returns where it is now.",
    input,
    model: { prompt: "Delete a directory", unless: "Delete" },
    timeoutMs: TIMES.callMax,
    prepare: ({ path }) => ({ paths: [{ path, intent: "remove", isEntry: true, isWhole: true }] }),
    preview: ({ path, recursive = false, permanent = false }, context) =>
      deletionPreview(files, { path, recursive, permanent, check: refuseOther }, context),
    handle: ({ path, recursive = false, permanent = false }, context) =>
      deleteEntry(files, { path, recursive, permanent, check: refuseOther }, context),
  });
}

function refuseOther({ place, stat }: OpenedEntry): void {
  if (stat.isDirectory()) return;
  const kind = stat.isSymbolicLink() ? "a symlink" : "a file";
  throw toolError("TOOL_EXECUTION_FAILED", `${place.shown} is ${kind}, not a directory`, {
    hint: `Use ${toolName("Delete")}`,
    details: { path: place.shown },
  });
}

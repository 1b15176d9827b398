import { TIMES } from "@matrx/shared/limits.ts";
import * as z from "zod";
import type { Files } from "../paths/files.ts";
import { defineTool } from "../tool.ts";
import { discard } from "../trash/discard.ts";

const input = z.strictObject({
  path: z.string().min(1).describe("Absolute or relative path"),
  recursive: z.boolean().optional().describe("Needed for a folder that is not empty (default false)"),
  permanent: z.boolean().optional().describe("Not into the trash (default false)"),
});

export function deleteTool(files: Files) {
  return defineTool({
    name: "Delete",
    effect: "execute",
    description:
      "Delete a file, folder or symlink: into the trash, from where `Move` brings it back, or for good with permanent.",
    details:
      "A symlink is deleted itself, never what it leads to. Refuses the home folder, folders of the system, mount points and the session's working directory. Returns where it lies now.",
    input,
    timeoutMs: TIMES.callMax,
    handle: ({ path, recursive = false, permanent = false }, context) =>
      discard(files, { path, recursive, permanent, check: () => undefined }, context),
  });
}

/** The tool that creates a directory. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { defineTool, type ToolResult } from "../core/tool.ts";
import type { FileAccess, Files, ResolvedPath } from "../fs/access.ts";
import { makeFolders } from "../fs/make-folders.ts";
import { entryAt } from "../fs/write-file.ts";
import { shownName } from "../text/display-name.ts";

const input = z.strictObject({
  path: z.string().min(1).describe("Absolute or relative path of the directory to create"),
  recursive: z.boolean().optional().describe("Create missing parent directories too (default true)"),
});

export function createDirectoryTool(files: Files) {
  return defineTool({
    name: "create_directory",
    family: "files",
    effect: "write",
    confinable: true,
    description: "Create a directory and its missing parents. An existing one is left unchanged.",
    input,
    model: { prompt: "Create a directory", unless: "Bash" },
    timeoutMs: 30_000,
    prepare: ({ path }) => ({ paths: [{ path, intent: "folder" }] }),
    async preview({ path }, context) {
      const place = await (await files.as(context)).find(path, "folder");
      const isThere = place.missing.length === 0;
      return { summary: isThere ? `Leave ${place.shown} as it is` : `Create the folder ${place.shown}` };
    },
    async handle({ path, recursive = true }, context) {
      const access = await files.as(context);
      const place = await access.find(path, "folder");
      context.approved?.checkPath(place.path, place.shown);
      if (place.missing.length === 0) return await existing(access, place);
      if (place.missing.length > 1 && !recursive) throw noParent(access, place);
      const made = await makeFolders(access, access.existingPart(place), place.missing, place.shown);
      const isNew = made.length > 0;
      return resultOf(place, isNew ? "Directory created successfully" : "Directory already exists", isNew);
    },
  });
}

async function existing(access: FileAccess, place: ResolvedPath): Promise<ToolResult> {
  if (await isDirectory(access, place)) return resultOf(place, "Directory already exists", false);
  throw toolError("CONFLICT", `${place.shown} exists but is not a directory`, {
    hint: "Choose another name",
    details: { path: place.shown },
  });
}

async function isDirectory(access: FileAccess, place: ResolvedPath): Promise<boolean> {
  const { folder, name } = access.parentOf(place);
  if (name === "") return true;
  await using parent = await access.openFolder(folder, place.shown);
  return (await entryAt(parent, name))?.isDirectory() ?? false;
}

function resultOf(place: ResolvedPath, message: string, created: boolean): ToolResult {
  return {
    output: `${message}: ${place.shown}`,
    metadata: { created_path: place.path, message, created },
  };
}

function noParent(access: FileAccess, place: ResolvedPath): MatrxError {
  return toolError("NOT_FOUND", `The parent folder of ${place.shown} does not exist`, {
    hint: `Only ${shownName(access.existingPart(place))} exists; use recursive to create the rest`,
    details: { path: place.shown },
  });
}

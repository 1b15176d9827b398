/** The tool that lists a directory. */
import { lstat } from "node:fs/promises";
import { MatrxError, toolError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { defineTool, type ToolResult } from "../core/tool.ts";
import type { FileAccess, Files, ResolvedPath } from "../fs/access.ts";
import { explained, hasCode } from "../fs/errors.ts";
import { type Entry, type EntryPage, listFolder } from "../fs/list-folder.ts";
import { lookBeyond } from "../fs/look-beyond.ts";
import type { Directory } from "../platform/directory.ts";
import { quotedName, shownBytes, shownName } from "../text/display-name.ts";
import { toolName } from "../text/tool-names.ts";

const DEFAULT_LIMIT = 500;

const input = z.strictObject({
  path: z.string().min(1).optional().describe("Directory (default: working directory)"),
  show_hidden: z.boolean().optional().describe("Include dotfiles (default false)"),
  limit: z.int().min(1).max(5000).optional().describe("Maximum number of entries to return (default 500)"),
  after: z.string().min(1).optional().describe("Only entries whose name comes after this one: the next page"),
});

export function listDirectoryTool(files: Files) {
  return defineTool({
    name: "ListDirectory",
    family: "files",
    effect: "read",
    confinable: true,
    description:
      "List a directory, sorted by name: directories end with /, symlinks show their target. At most 500 entries; a note says how to see more.",
    details:
      "Names with hidden characters (line breaks, control or direction characters, spaces at an end) are shown as JSON strings; bytes that are not UTF-8 as \\xe9, and only `Bash` can open such names.",
    input,
    model: { prompt: "List directory contents", omit: ["limit", "after"] },
    timeoutMs: 60_000,
    prepare: ({ path = "." }) => ({ paths: [{ path, intent: "read" }] }),
    async handle({ path, show_hidden: showHidden = false, limit = DEFAULT_LIMIT, after }, context) {
      const access = await files.as(context);
      const place = await access.findExisting(path ?? ".", "read");
      await using folder = await openListed(access, place);
      const pathOf = (name: string) => access.platform.path.join(place.path, name);
      const maySee = (name: string) => !access.isClosed(pathOf(name));
      const beyond = (name: string) => lookBeyond(access, pathOf(name));
      const wanted = { showHidden, limit, after, maySee, lookBeyond: beyond, signal: context.signal };
      const page = await explained(place.shown, "list", () => listFolder(folder, wanted));
      return resultOf(place, page);
    },
  });
}

async function openListed(access: FileAccess, place: ResolvedPath): Promise<Directory> {
  try {
    const { folder, name } = access.parentOf(place);
    if (name !== "") await checkIsFolder(access, folder, name, place);
    return await access.openFolder(place.path, place.shown);
  } catch (error) {
    if (error instanceof MatrxError && hasCode(error.cause, "ENOTDIR")) throw notAFolder(place);
    throw error;
  }
}

async function checkIsFolder(
  access: FileAccess,
  folder: string,
  name: string,
  place: ResolvedPath,
): Promise<void> {
  await using parent = await access.openFolder(folder, place.shown);
  const entry = await explained(place.shown, "list", () => lstat(parent.at(name)));
  if (!entry.isDirectory() && !entry.isSymbolicLink()) throw notAFolder(place);
}

function notAFolder(place: ResolvedPath): MatrxError {
  return toolError("TOOL_EXECUTION_FAILED", `${place.shown} is not a directory`, {
    hint: `Read a file with ${toolName("Read")}, or name a directory`,
    details: { path: place.shown },
  });
}

function resultOf(place: ResolvedPath, { entries, remaining, total }: EntryPage): ToolResult {
  const last = entries.at(-1)?.name;
  const notes: string[] = [];
  if (total === 0) notes.push("The directory is empty");
  if (remaining > 0)
    notes.push(`${remaining} of ${total} entries remain. Continue with after=${JSON.stringify(last)}`);
  const lines = [...entries.map(lineOf), ...notes.map((note) => `[${note}]`)];
  return {
    output: lines.join("\n"),
    metadata: {
      path: place.path,
      entries,
      total,
      truncated: remaining > 0,
      ...(remaining > 0 && { next_after: last }),
    },
  };
}

function lineOf(entry: Entry): string {
  const name = nameOf(entry);
  if (entry.error) return `${name} [${entry.error === "EACCES" ? "permission denied" : entry.error}]`;
  if (entry.type === "directory") return `${name}/`;
  if (entry.type !== "symlink") return name;
  const target = shownName(entry.target ?? "");
  if (entry.target_closed) return `${name} -> ${target}`;
  if (!entry.target_type) return `${name} -> ${target} [${lackOf(entry.target_error)}]`;
  return `${name} -> ${target}${entry.target_type === "directory" && !target.endsWith("/") ? "/" : ""}`;
}

/** Why nothing is known of a link's target. */
function lackOf(code: string | undefined): string {
  if (code === "ELOOP") return "links in a loop";
  return code === "EACCES" ? "permission denied" : (code ?? "nothing there");
}

/** What notes after a name look like: names that contain the same are quoted. */
const LIKE_A_NOTE = / -> |(?:^| )\[[^\]]*\]$/;

function nameOf({ name, name_base64 }: Entry): string {
  if (name_base64 !== undefined) return shownBytes(Buffer.from(name_base64, "base64"));
  return LIKE_A_NOTE.test(name) ? quotedName(name) : shownBytes(Buffer.from(name));
}

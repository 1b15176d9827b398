/** The tool that shows a directory as a tree. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import type { Files } from "../fs/access.ts";
import { throwUnlessTimedOut } from "../search/notes.ts";
import { openScope } from "../search/scope.ts";
import { growTree, type Tree, type TreeNode } from "../search/tree.ts";
import { shownName } from "../text/display-name.ts";
import { toolName } from "../text/tool-names.ts";

const DEFAULT_DEPTH = 5;
const DEFAULT_ENTRIES = 200;

const input = z.strictObject({
  path: z.string().min(1).optional().describe("Directory (default: working directory)"),
  format: z
    .enum(["text", "json"])
    .optional()
    .describe("text: indented lines (default); json: {name, type, size, children}"),
  depth: z.int().min(1).max(64).optional().describe("Levels to show (default 5)"),
  max_entries: z
    .int()
    .min(1)
    .max(20_000)
    .optional()
    .describe("Maximum number of entries; upper levels come first (default 200)"),
  show_hidden: z.boolean().optional().describe("Include dotfiles (default false)"),
  include_ignored: z
    .boolean()
    .optional()
    .describe("Include files that .gitignore excludes, and .git (default false)"),
});

export function directoryTreeTool(files: Files) {
  return defineTool({
    name: "DirectoryTree",
    family: "files",
    effect: "read",
    confinable: true,
    description:
      "Show a directory tree as indented lines: at most 5 levels and 200 entries, upper levels first. Leaves out dotfiles and what .gitignore excludes.",
    details:
      "As text or JSON. Directories end with /, symlinks show their target and are not followed, … marks a directory that is not listed completely.",
    input,
    model: {
      prompt: "Draw a directory tree",
      unless: "Bash",
      omit: ["format", "max_entries", "show_hidden", "include_ignored"],
    },
    timeoutMs: 30_000,
    prepare: ({ path = "." }) => ({ paths: [{ path, intent: "read" }] }),
    async handle({ path = ".", format = "text", ...wanted }, context) {
      const { signal } = context;
      const { depth = DEFAULT_DEPTH, max_entries: most = DEFAULT_ENTRIES } = wanted;
      const { show_hidden: showHidden = false, include_ignored: includeIgnored = false } = wanted;
      const access = await files.as(context);
      const place = await access.findExisting(path, "read");
      const scope = await openScope(access, place, { showHidden, includeIgnored });
      if (scope.file !== undefined) throw notADirectory(place.shown);
      const tree = await growTree(scope, { depth, most, signal });
      throwUnlessTimedOut(signal);
      if (tree.root.error !== undefined) throw unreadable(place.shown, tree.root.error);
      const note = noteOf(tree);
      const truncated = tree.stopped !== undefined;
      return {
        output:
          format === "json"
            ? JSON.stringify({ ...tree.root, truncated, ...(note && { note }) }, undefined, 2)
            : [...drawn(tree.root), ...(note ? [`[${note}]`] : [])].join("\n"),
        metadata: {
          path: place.path,
          entries: tree.entries,
          truncated,
          ...(tree.stopped && { stopped_by: tree.stopped }),
        },
      };
    },
  });
}

function noteOf({ stopped, entries, root }: Tree): string | undefined {
  const goOn = `To see more, give the path of a marked directory, page through it with ${toolName("ListDirectory")}, or raise max_entries`;
  if (stopped === "max_entries") return `Cut at ${entries} entries. ${goOn}`;
  if (stopped === "time") return `Time ran out after ${entries} entries. ${goOn}`;
  return root.children?.length === 0 ? "The directory is empty, or everything in it is left out" : undefined;
}

function drawn(root: TreeNode): string[] {
  const lines = [labelOf(root)];
  const draw = (node: TreeNode, indent: string) => {
    for (const child of node.children ?? []) {
      lines.push(`${indent}${labelOf(child)}`);
      draw(child, `${indent}  `);
    }
    if (node.more) lines.push(`${indent}… ${node.more} more`);
  };
  draw(root, "  ");
  return lines;
}

function labelOf({ name, type, target, error, children }: TreeNode): string {
  const why = error === undefined ? "" : ` [${error === "EACCES" ? "permission denied" : error}]`;
  if (target !== undefined) return `${shownName(name)} -> ${shownName(target)}`;
  if (type !== "directory") return `${shownName(name)}${why}`;
  const slash = name.endsWith("/") ? "" : "/";
  return `${shownName(name)}${slash}${why || (children ? "" : " …")}`;
}

function notADirectory(path: string): MatrxError {
  return toolError("TOOL_EXECUTION_FAILED", `${path} is not a directory`, {
    hint: `Read a file with ${toolName("Read")}, or name a directory`,
    details: { path },
  });
}

function unreadable(path: string, code: string): MatrxError {
  return toolError(
    code === "EACCES" || code === "EPERM" ? "PERMISSION_DENIED" : "TOOL_EXECUTION_FAILED",
    `${path} could not be listed: ${code}`,
    { hint: "Its owner can change the permissions", details: { path, system_code: code } },
  );
}

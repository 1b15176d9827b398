/** Page tools for the files that the person sees. */
import { type FolderPage, pageIn } from "../../files/entries.ts";
import { nameOf, plainPath } from "../../files/paths.ts";
import { failureOf, PageToolError, tooMuch } from "../failure.ts";
import { optional, text, whole } from "../fields.ts";
import { textOf } from "../file-text.ts";
import { defineTool, type PageTool, type ToolContext } from "../tool.ts";

/** Entries of one answer. */
const MOST_ENTRIES = 5_000;
const LONGEST_PATH = 4_096;
const LONGEST_PATTERN = 1_000;
/** In bytes. */
const USUAL_BYTES = 64 * 1024;
const MOST_BYTES = 1024 * 1024;

const COLOURS: Readonly<Record<string, number>> = {
  file: 0xced4da,
  directory: 0x4dabf7,
  link: 0x3bc9db,
  fifo: 0xffd43b,
  socket: 0xf783ac,
  device: 0xffa94d,
};
const OTHER_COLOUR = 0x868e96;

const path = text("Absolute, or below the start folder", LONGEST_PATH);

const fileList = defineTool({
  name: "file_list",
  title: "List a folder",
  description: "List a folder, hidden files too; at most 5000 entries.",
  reach: "look",
  isUntrusted: true,
  needs: ["ListDirectory"],
  fields: { path },
  async handle(input, context) {
    const { entries, total } = await listed(input.path, MOST_ENTRIES, context);
    if (total > entries.length)
      throw tooMuch(`This folder has ${total} entries`, "Use file_find with a pattern, or terminal_execute");
    return entries.map(({ name, type, size = 0 }) => {
      const plain = plainType(type);
      return { name, type: plain, size, color: COLOURS[plain] ?? OTHER_COLOUR };
    });
  },
});

const fileNavigate = defineTool({
  name: "file_navigate",
  title: "Show a folder",
  description: "Show a folder in the page.",
  reach: "show",
  isUntrusted: true,
  needs: ["ListDirectory"],
  fields: { path },
  async handle(input, context) {
    try {
      const shown = await context.folders.show(await listed(input.path, 1, context));
      if (!shown) return notShown("The page of files did not open");
      if (shown.error) return notShown(shown.error.message);
      return { success: true, files_count: shown.count ?? 0 };
    } catch (error) {
      context.signal.throwIfAborted();
      return notShown(failureOf(error).message);
    }
  },
});

function notShown(reason: string) {
  return { success: false, files_count: 0, reason };
}

async function listed(folder: string, limit: number, { read }: ToolContext): Promise<FolderPage> {
  const { metadata } = await read("ListDirectory", { path: folder, show_hidden: true, limit });
  return pageIn(metadata);
}

const fileFind = defineTool({
  name: "file_find",
  title: "Find files",
  description: "Find files and folders below a folder by a glob for their names, in any case.",
  reach: "look",
  isUntrusted: true,
  needs: ["search_files"],
  fields: {
    pattern: text("Such as *.log", LONGEST_PATTERN),
    path: optional(text("Default: the folder shown", LONGEST_PATH)),
  },
  handle: async (input, context) => (await found(input, context)).files,
});

export interface FoundFile {
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  readonly type: string;
}

interface Search {
  readonly pattern: string;
  /** Undefined: the folder shown last, or else where the machine begins. */
  readonly path?: string | undefined;
}

interface Found {
  /** Where it was looked, as the machine names it. */
  readonly searched: string | undefined;
  readonly files: readonly FoundFile[];
}

/** Throws PageToolError: there are too many. */
export async function found({ pattern, path: from }: Search, { folders, read }: ToolContext): Promise<Found> {
  const folder = from ?? folders.shown;
  const input = { query: pattern, limit: MOST_ENTRIES, ...(folder !== undefined && { path: folder }) };
  const { metadata } = await read("search_files", input);
  const { results, truncated, stopped_by: stopped } = metadata;
  if (!Array.isArray(results)) throw new Error("The machine's answer can't be read here");
  if (truncated === true)
    throw tooMuch(
      stopped === "time" ? "The search took too long" : `More than ${MOST_ENTRIES} names fit`,
      "Narrow pattern or path",
    );
  const all = results.flatMap(foundIn);
  // Without wildcards, the machine looks for parts of names.
  const files = /[*?[{]/.test(pattern) ? all : all.filter(({ path: at }) => endsWith(at, pattern));
  return { searched: typeof metadata.path === "string" ? metadata.path : folder, files };
}

function foundIn(value: unknown): FoundFile[] {
  if (typeof value !== "object" || value === null) return [];
  const { path: at, type }: { path?: unknown; type?: unknown } = value;
  if (typeof at !== "string" || typeof type !== "string") return [];
  return [{ name: nameOf(plainPath(at)), path: at, type: plainType(type) }];
}

function endsWith(at: string, pattern: string): boolean {
  const folded = (name: string) => name.normalize("NFC").toLowerCase().replaceAll("\\", "/");
  return `/${folded(at)}`.endsWith(`/${folded(pattern).replace(/^\/+/, "")}`);
}

function plainType(type: string): string {
  return type === "symlink" ? "link" : type;
}

const fileRead = defineTool({
  name: "file_read",
  title: "Read a file",
  description: "Read the beginning of a text file.",
  reach: "look",
  isUntrusted: true,
  needs: ["Read"],
  fields: { path, max_bytes: optional(whole("Default 65536", 1, MOST_BYTES)) },
  async handle({ path: file, max_bytes: most = USUAL_BYTES }, { read }) {
    const input = { file_path: file, encoding: "base64", byte_limit: most, raw: true };
    const { output, metadata } = await read("Read", input);
    return textOf(bytesIn(output), metadata.truncated === true);
  },
});

function bytesIn(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    throw new PageToolError("The machine's answer can't be read here", { code: "TOOL_EXECUTION_FAILED" });
  }
}

export const FILE_TOOLS: readonly PageTool[] = [fileList, fileNavigate, fileFind, fileRead];

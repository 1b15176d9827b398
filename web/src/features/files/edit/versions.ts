/** Reads a file to be edited, and writes it back only over the version that was read. */

import { callTool } from "../../../calls/call-tool.ts";
import { queryClient } from "../../../data/query.ts";
import { ApiError } from "../../../relay/api-error.ts";
import { type PlacedFile, readWhole } from "../../../relay/file-bytes.ts";
import { nameInText } from "../../../ui/visible-text.ts";
import { nameOf, parentOf } from "../paths.ts";
import { MOST_EDITED } from "../use-entry-actions.ts";
import { forgetFolder } from "../use-folder.ts";

export interface Version {
  readonly text: string;
  /** The SHA-256 of its content, in hex. */
  readonly sha256: string;
}

/** Throws ApiError: also if it is no UTF-8 text, which could not be written back as it is. */
export async function readVersion(file: PlacedFile, signal: AbortSignal): Promise<Version> {
  const { bytes } = await readWhole(file, MOST_EDITED, signal);
  return { text: textIn(bytes), sha256: await sha256Of(bytes) };
}

/** `base`: the version that may be replaced. Throws ApiError `CONFLICT` if another is there. */
export async function writeVersion(
  { device, path }: PlacedFile,
  text: string,
  base: string,
): Promise<Version> {
  const input = { file_path: path, content: text, expected_sha256: base, create_directories: false };
  const { metadata } = await callTool(device, { name: "Write", effect: "write" }, input);
  forgetFolder(device, parentOf(path) ?? "/");
  void queryClient.invalidateQueries({ queryKey: ["file", device, path, "head"] });
  // The machine may write the text with the line ends that the file had.
  const { sha256 } = metadata;
  if (typeof sha256 === "string") return { text, sha256 };
  return { text, sha256: await sha256Of(new TextEncoder().encode(text)) };
}

/** Under a name that is free. Throws ApiError. */
export async function writeNew({ device, path }: PlacedFile, text: string): Promise<void> {
  if (await isThere({ device, path }))
    throw new ApiError(409, {
      detail: `${nameInText(nameOf(path))} is already there.`,
      hint: "Choose another name.",
    });
  const input = { file_path: path, content: text, create_directories: false };
  await callTool(device, { name: "Write", effect: "write" }, input);
  forgetFolder(device, parentOf(path) ?? "/");
}

async function isThere({ device, path }: PlacedFile): Promise<boolean> {
  try {
    await callTool(device, { name: "FileInfo", effect: "read" }, { path });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === "NOT_FOUND") return false;
    throw error;
  }
}

function textIn(bytes: Uint8Array): string {
  try {
    // A byte order mark stays where it is.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ApiError(415, {
      detail: "This is no text in UTF-8, so it can't be edited here.",
      hint: "Download it, and edit it with a program that knows its kind.",
    });
  }
}

async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Files that only this user can read (0600), written atomically. */
import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import { randomBase32 } from "@matrx/shared/ids.ts";
import { zodMessages } from "@matrx/shared/zod-messages.ts";
import type * as z from "zod";

/** Makes a folder and those above it. Throws MatrxError. */
export function makePrivateFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw fileError(path, "cannot be created or written", cause);
  }
}

/** Writes a file so that a crash leaves the old one or the new one: temporary file, fsync, rename. */
export function writePrivateFile(path: string, text: string): void {
  makePrivateFolder(dirname(path));
  const temporary = `${path}.${randomBase32(8)}.tmp`;
  try {
    const file = openSync(temporary, "wx", 0o600);
    try {
      // A full disk may take a part of it: this goes on until it has all, or fails.
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (cause) {
    rmSync(temporary, { force: true });
    throw fileError(path, "cannot be written", cause);
  }
  syncFolder(dirname(path));
}

/** Text of a file, or undefined if there is none. Throws MatrxError. */
export function readPrivateFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if (isNodeError(cause, "ENOENT")) return undefined;
    throw fileError(path, "cannot be read", cause);
  }
}

/** A JSON file checked against a schema, or undefined if there is none. The error names file and key. */
export function readJsonFile<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
): z.infer<Schema> | undefined {
  const text = readPrivateFile(path);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged(path, "is not JSON");
  }
  const result = schema.safeParse(value, { error: zodMessages });
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const unknown = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const key = [...(issue?.path ?? []), ...unknown].join(".");
  throw damaged(path, key ? `${key}: ${issue?.message}` : (issue?.message ?? "is wrong"));
}

/** Changes whenever the file does, or the link that leads to it. */
export function fileStamp(path: string): string {
  try {
    const link = lstatSync(path, { throwIfNoEntry: false, bigint: true });
    const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
    return `${link ? link.ino : "none"} ${stat ? `${stat.ino} ${stat.size} ${stat.mtimeNs}` : "none"}`;
  } catch {
    // Reading the file will report why.
    return "unreadable";
  }
}

/** The system's error, if it has this code. */
export function isNodeError(error: unknown, code: string): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error && error.code === code;
}

function damaged(path: string, what: string): MatrxError {
  return agentError("INVALID_PARAMETERS", `${basename(path)}: ${what}`, {
    hint: `Correct ${path}`,
    details: { file: path },
  });
}

/** Explains a file system error in plain words; returns any other error unchanged. */
export function inPlainWords(error: unknown): unknown {
  const isOfSystem = error instanceof Error && "syscall" in error && "path" in error;
  return isOfSystem ? fileError(String(error.path), "cannot be used", error) : error;
}

function fileError(path: string, what: string, cause: unknown): MatrxError {
  const why = cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
  return agentError("UNAVAILABLE", `${path} ${what}${why}`, {
    hint: "Check that this user owns the folder, that nothing else is in the file's place, and that there is free space; or set MATRX_HOME to another folder",
    cause,
  });
}

/** Makes the rename durable; not every system can open a folder. */
function syncFolder(path: string): void {
  try {
    const folder = openSync(path, "r");
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {}
}

/** The data folder, and files in it that nobody else may read. */
import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { hasCode, messageOf, Problem } from "../problem.ts";

/** What shows that a folder is one of ours. */
const OURS = ["keys.json", "claim-secret", "objects", "relay.pid", "cloudflare"];

/** Makes the folder (0700), or checks that the one there is ours and writable. Throws Problem. */
export function openDataFolder(folder: string): void {
  try {
    mkdirSync(join(folder), { recursive: true, mode: 0o700 });
    const entries = readdirSync(folder);
    if (entries.length > 0 && !entries.some((name) => OURS.includes(name))) {
      throw new Problem(
        `${folder} contains other files: choose an empty folder for the relay's data with --data.`,
      );
    }
    chmodSync(folder, 0o700);
    accessSync(folder, constants.W_OK);
    mkdirSync(join(folder, "objects"), { recursive: true, mode: 0o700 });
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(
      `The data folder ${folder} cannot be used (${messageOf(error)}): make it writable for you, or choose another with --data.`,
    );
  }
}

/** The text of a file, or undefined if there is none. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw new Problem(
      `${file} cannot be read (${messageOf(error)}): correct its owner or mode and start again.`,
    );
  }
}

/** Writes a file whole or not at all, readable by its owner only. */
export function writePrivate(file: string, text: string): void {
  const draft = `${file}.${process.pid}.new`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: "w", flush: true });
    renameSync(draft, file);
  } catch (error) {
    throw new Problem(
      `${file} cannot be written (${messageOf(error)}): make the folder writable for you and start again.`,
    );
  }
}

/** The data folder, and files in it that nobody else may read. */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { adviceFor, hasCode, messageOf, Problem } from "../problem.ts";

/** What shows that a folder is one of ours. */
const OURS = ["keys.json", "claim-secret", "objects", "relay.pid", "cloudflare", "oidc.json"];

/** Folders in which the relay keeps its objects, and files of the cloud store. */
const KEPT = ["objects", "cloud"];

/** Files that the relay writes while it runs. */
const FILES: readonly string[] = ["relay.pid", "relay.log", "agent.log", "authorization"];
const PROBE_BYTES = 64 * 1024;

/** Makes the folder (0700), or checks that the one there is ours, and that all of it can be written. Throws Problem. */
export function openDataFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const entries = readdirSync(folder);
    if (entries.length > 0 && !entries.some((name) => OURS.includes(name))) {
      throw new Problem(
        `${folder} contains other files: choose an empty folder for the relay's data with --data.`,
      );
    }
    chmodSync(folder, 0o700);
    for (const name of KEPT) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw unusable(folder, error);
  }
  for (const place of [folder, ...KEPT.map((name) => join(folder, name))]) requireRoom(place);
  for (const entry of entriesOf(folder)) requireWritable(entry);
}

/** What the relay writes: its files, its objects with theirs, and those of the cloud store. */
function entriesOf(folder: string): string[] {
  const files = FILES.map((name) => join(folder, name)).filter((file) => existsSync(file));
  const entriesIn = (name: string) => readdirSync(join(folder, name), { recursive: true, encoding: "utf8" });
  const kept = KEPT.flatMap((name) => entriesIn(name).map((entry) => join(folder, name, entry)));
  return [...files, ...kept];
}

/** Writes something, as rights alone do not tell of a full disk. Throws Problem. */
function requireRoom(folder: string): void {
  const probe = join(folder, `.probe-${process.pid}`);
  try {
    try {
      writeFileSync(probe, Buffer.alloc(PROBE_BYTES), { mode: 0o600 });
    } finally {
      rmSync(probe, { force: true });
    }
  } catch (error) {
    throw unusable(folder, error);
  }
}

/** Throws Problem. */
function requireWritable(path: string): void {
  try {
    const isFolder = statSync(path).isDirectory();
    if (isFolder && FILES.includes(basename(path)))
      throw Object.assign(new Error("it is a folder"), { code: "EISDIR" });
    accessSync(path, constants.R_OK | constants.W_OK | (isFolder ? constants.X_OK : 0));
  } catch (error) {
    // A database's companion files come and go.
    if (!hasCode(error, "ENOENT")) throw unusable(path, error);
  }
}

function unusable(path: string, error: unknown): Problem {
  const why = error instanceof Error && "code" in error ? error.code : messageOf(error);
  return new Problem(
    `${path} cannot be used for the relay's data (${why}): ${adviceFor(error)}, or choose another folder with --data.`,
  );
}

/** The text of a file, or undefined if there is none. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw new Problem(`${file} cannot be read (${messageOf(error)}): ${adviceFor(error)}, and start again.`);
  }
}

/** Writes a file whole or not at all, readable by its owner only. */
export function writePrivate(file: string, text: string): void {
  const draft = `${file}.${process.pid}.new`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: "w", flush: true });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new Problem(`${file} cannot be written (${messageOf(error)}): ${adviceFor(error)}.`);
  }
}

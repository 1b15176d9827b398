/** Resolves a path to its canonical form, following links, even those whose target does not exist yet. */
import { isUtf8 } from "node:buffer";
import { lstat, readlink, realpath } from "node:fs/promises";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { Platform } from "../platform/platform.ts";
import { toolName } from "../text/tool-names.ts";
import { hasCode } from "./errors.ts";
import { MOST_LINKS } from "./link-chain.ts";
import { namesIn } from "./names-in.ts";

export interface Canonical {
  /** Free of links. */
  readonly path: string;
  /** Names at its end that do not exist yet; empty if it exists. */
  readonly missing: readonly string[];
}

/** Limit on entries of a folder that are searched for another spelling of a name. */
const MOST_ENTRIES = 20_000;

/** Called before a folder's entries are searched. */
type MayLook = (folder: string) => boolean;

/** Throws MatrxError, or the system's error for a path that cannot be resolved. */
export async function canonicalOf(
  absolute: string,
  platform: Platform,
  mayLook: MayLook = () => true,
  links = 0,
): Promise<Canonical> {
  const { path } = platform;
  if (links > MOST_LINKS) throw circle(absolute);
  try {
    return { path: await realpath(absolute), missing: [] };
  } catch (error) {
    // A root that does not exist, such as a drive, has no parent.
    if (!hasCode(error, "ENOENT") || path.dirname(absolute) === absolute) throw error;
  }
  const target = await linkTarget(absolute);
  if (target !== undefined) {
    const parent = await canonicalOf(path.dirname(absolute), platform, mayLook, links);
    return canonicalOf(path.resolve(parent.path, target), platform, mayLook, links + 1);
  }
  const parent = await canonicalOf(path.dirname(absolute), platform, mayLook, links);
  const name = path.basename(absolute);
  if (parent.missing.length > 0) {
    return { path: path.join(parent.path, name), missing: [...parent.missing, name] };
  }
  const spelled = mayLook(parent.path) ? await otherSpelling(parent.path, name, platform) : undefined;
  if (spelled === undefined) return { path: path.join(parent.path, name), missing: [name] };
  return canonicalOf(path.join(parent.path, spelled), platform, mayLook, links + 1);
}

/** As `canonicalOf`, but does not follow a link at the very end. */
export async function canonicalEntryOf(
  absolute: string,
  platform: Platform,
  mayLook: MayLook = () => true,
): Promise<Canonical> {
  const { path } = platform;
  const name = path.basename(absolute);
  if (name === "") return canonicalOf(absolute, platform, mayLook);
  const parent = await canonicalOf(path.dirname(absolute), platform, mayLook);
  const entry = path.join(parent.path, name);
  if (parent.missing.length > 0) return { path: entry, missing: [...parent.missing, name] };
  const kind = await kindOf(entry);
  if (kind === "link") return { path: entry, missing: [] };
  // Resolved to its true name, since the system may accept other spellings.
  if (kind === "other") return canonicalOf(entry, platform, mayLook);
  const spelled = mayLook(parent.path) ? await otherSpelling(parent.path, name, platform) : undefined;
  if (spelled === undefined) return { path: entry, missing: [name] };
  return { path: path.join(parent.path, spelled), missing: [] };
}

async function kindOf(entry: string): Promise<"link" | "other" | undefined> {
  try {
    return (await lstat(entry)).isSymbolicLink() ? "link" : "other";
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

async function linkTarget(absolute: string): Promise<string | undefined> {
  try {
    return await readlink(absolute);
  } catch (error) {
    // EINVAL: it exists and is not a link; UNKNOWN: what Windows reports for ordinary files.
    if (hasCode(error, "ENOENT", "EINVAL", "ENOTDIR", "UNKNOWN")) return undefined;
    throw error;
  }
}

/** The one existing name that differs only in Unicode normalization (NFC, NFD). Throws if there are several. */
async function otherSpelling(
  folder: string,
  name: string,
  { openDirectory }: Platform,
): Promise<string | undefined> {
  if (/^[\x20-\x7e]*$/.test(name)) return undefined;
  const wanted = name.normalize("NFC");
  const names = await namesIn(() => openDirectory(folder, () => undefined), MOST_ENTRIES);
  const alike = names
    .filter((bytes) => isUtf8(bytes))
    .map((bytes) => bytes.toString("utf8"))
    .filter((other) => other !== name && other.normalize("NFC") === wanted);
  if (alike.length <= 1) return alike[0];
  throw toolError(
    "CONFLICT",
    `${alike.length} entries of ${folder} are spelled like "${name}", with accents composed differently`,
    { hint: `Rename one of them with ${toolName("Bash")}`, details: { folder, names: alike } },
  );
}

function circle(path: string): MatrxError {
  return toolError("TOOL_EXECUTION_FAILED", `Cannot open ${path}: its links form a loop`, {
    hint: "Name the file itself",
    details: { path },
  });
}

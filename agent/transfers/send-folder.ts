/** Sends a folder as a zip, each entry reached by descriptors. What is closed to the caller is left out, as in listings. */
import { createHash } from "node:crypto";
import type { ServeStream } from "../core/byte-stream.ts";
import type { FileAccess, ResolvedPath } from "../fs/access.ts";
import { explained } from "../fs/errors.ts";
import { type Skipped, ZipTree } from "./zip-tree.ts";
import { ZipWriter } from "./zip-writer.ts";

/** Entries that a trailer names; the others are only counted. */
const MOST_NAMED = 16;
/** A trailer is small: longer paths are cut, in characters. */
const MOST_CHARS = 120;

export function sendFolder(access: FileAccess, place: ResolvedPath): ServeStream {
  return async (stream) => {
    const digest = createHash("sha256");
    let bytes = 0;
    const zip = new ZipWriter(async (piece) => {
      digest.update(piece);
      bytes += piece.length;
      await stream.write(piece);
    });
    const tree = new ZipTree(access, zip, stream.signal);
    await explained(place.shown, "read", () => tree.add(place));
    const { skipped } = tree;
    await zip.finish(skipped.length > 0 ? commentOn(skipped) : "");
    return {
      ...{ bytes, sha256: digest.digest("hex"), entries: zip.entries },
      skipped: skipped.slice(0, MOST_NAMED).map(({ path, reason }) => ({ path: cut(path), reason })),
      skipped_count: skipped.length,
    };
  };
}

/** Browsers do not see trailers: whoever opens the zip can read there what it lacks. */
function commentOn(skipped: readonly Skipped[]): string {
  const lines = skipped.slice(0, MOST_NAMED).map(({ path, reason }) => `${cut(path)} (${reason})`);
  const more = skipped.length > lines.length ? ["..."] : [];
  return [`Left out: ${skipped.length}`, ...lines, ...more].join("\n");
}

function cut(path: string): string {
  return path.length > MOST_CHARS ? `${path.slice(0, MOST_CHARS).toWellFormed()}...` : path;
}

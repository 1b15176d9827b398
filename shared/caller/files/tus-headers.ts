/** Headers of resumable uploads (tus 1.0, https://tus.io/protocols/resumable-upload). */
import { hexOf } from "./digest.ts";
import { wrongHeader } from "./upload.ts";

export const TUS_VERSION = "1.0.0";
export const TUS_BYTES = "application/offset+octet-stream";
const ALGORITHMS = { sha1: 20, sha256: 32 } as const;

export const TUS_OPTIONS = {
  "Tus-Version": TUS_VERSION,
  "Tus-Extension": "creation,creation-with-upload,expiration,checksum,termination",
  "Tus-Checksum-Algorithm": Object.keys(ALGORITHMS).join(","),
} as const;

/** A header that is a number of bytes. Throws MatrxError. */
export function bytesIn({ headers }: Request, name: string): number {
  const text = headers.get(name);
  if (text !== null && /^\d{1,15}$/.test(text)) return Number(text);
  throw wrongHeader(name, "must be a number of bytes");
}

/** `Upload-Checksum`, with the digest in hex. Throws MatrxError. */
export function checksumOf({
  headers,
}: Request): { algorithm: keyof typeof ALGORITHMS; digest: string } | undefined {
  const text = headers.get("Upload-Checksum");
  if (text === null) return undefined;
  const [, algorithm = "", base64 = ""] = /^(\w+) ([A-Za-z0-9+/]+=*)$/.exec(text.trim()) ?? [];
  if (algorithm === "sha1" || algorithm === "sha256") {
    const bytes = decoded(base64);
    if (bytes?.length === ALGORITHMS[algorithm]) return { algorithm, digest: hexOf(base64) };
  }
  throw wrongHeader("Upload-Checksum", "must be sha1 or sha256, a space, and the digest in Base64");
}

/** Of extensions that are not among `Tus-Extension`: what they ask for would be taken for something else. Throws MatrxError. */
export function refuseExtensions({ headers }: Request): void {
  if (headers.has("Upload-Concat"))
    throw wrongHeader(
      "Upload-Concat",
      "is not understood: send a file as one upload, not as parts that are put together (tus-js-client: parallelUploads 1)",
    );
  if (headers.has("Upload-Defer-Length"))
    throw wrongHeader("Upload-Defer-Length", "is not understood: say the size by Upload-Length");
}

/** `Upload-Metadata`: names with texts. Throws MatrxError. */
export function metadataOf({ headers }: Request): ReadonlyMap<string, string> {
  const metadata = new Map<string, string>();
  for (const pair of (headers.get("Upload-Metadata") ?? "").split(",")) {
    if (pair.trim() === "") continue;
    const [name = "", value = "", ...more] = pair.trim().split(" ");
    const shown = name.slice(0, 64);
    if (metadata.has(name)) throw wrongHeader("Upload-Metadata", `${shown} must be there once only`);
    const bytes = more.length === 0 ? decoded(value) : undefined;
    if (!bytes) throw wrongHeader("Upload-Metadata", `${shown} is not Base64`);
    metadata.set(name, textOf(bytes, name));
  }
  return metadata;
}

/** Where the file is to be: `path`, or `folder` and `filename`. Throws MatrxError. */
export function targetOf(metadata: ReadonlyMap<string, string>): string {
  const [path, folder, name] = ["path", "folder", "filename"].map((key) => metadata.get(key));
  if (path) return path;
  if (!folder || !name) throw wrongHeader("Upload-Metadata", "must have path, or folder and filename");
  // What a page's user picked is a name, whatever it looks like.
  if (/[/\\\0]/.test(name) || name === "." || name === "..")
    throw wrongHeader("Upload-Metadata", "filename must be a name, not a path");
  return `${folder.replace(/\/+$/, "")}/${name}`;
}

/** A `true` or `false` in the metadata. Throws MatrxError. */
export function isSwitchedOn(
  metadata: ReadonlyMap<string, string>,
  name: string,
  usual: "true" | "false",
): boolean {
  const said = metadata.get(name) ?? usual;
  if (said === "true" || said === "false") return said === "true";
  throw wrongHeader("Upload-Metadata", `${name} must be \`true\` or \`false\``);
}

function decoded(base64: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function textOf(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw wrongHeader("Upload-Metadata", `${name.slice(0, 64)} is not UTF-8`);
  }
}

/**
 * A separate program that decodes a picture, and scales it to what models take, to contain hostile ones. It may read nothing but
 * itself, its libraries and the picture on its stdin. Argument: a PictureJob as JSON. Writes PictureWords as one line of JSON, then
 * the scaled picture if there is one.
 */
import { readFileSync } from "node:fs";
import { initPhoton, PhotonImage, resize, SamplingFilter } from "@cf-wasm/photon/others";
import { imageSize } from "image-size";
import { type Pixels, turned } from "./turned.ts";
import { isWhole } from "./whole.ts";

export interface PictureJob {
  /** Where the library's code is. */
  readonly wasm: string;
  /** A picture of at most this side and size passes as it is, in pixels and bytes. */
  readonly mostSide: number;
  readonly mostBytes: number;
  /** More are not decoded. */
  readonly mostPixels: number;
  readonly mostMemory: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** What became of it; its size and format are as it is meant to be seen, and as its content says. */
export type PictureWords =
  | { readonly failed: "damaged" }
  | ({ readonly failed: "kind" | "large"; readonly format: string } & Size)
  /** `shown` tells the scaled picture that follows; without it, models take the picture as it is. */
  | ({ readonly format: string; readonly shown?: Size & { readonly format: string } } & Size);

interface Told {
  readonly words: PictureWords;
  readonly bytes?: Uint8Array;
}

/** The formats that models take, by what the library calls them. */
const TAKEN = new Map([
  ["png", "png"],
  ["jpg", "jpeg"],
  ["gif", "gif"],
  ["webp", "webp"],
]);
const DECODED: ReadonlySet<string> = new Set([...TAKEN.keys(), "bmp", "ico", "tiff"]);

/** A PNG above this is made a JPEG. */
const PNG_MOST_BYTES = 1024 * 1024;
const JPEG_QUALITY = 85;

const job: PictureJob = JSON.parse(process.argv[2] ?? "{}");
const chunks: Buffer[] = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { words, bytes } = await toldOf(Buffer.concat(chunks));
process.stdout.write(`${JSON.stringify(words)}\n`);
if (bytes) process.stdout.write(bytes);

async function toldOf(picture: Buffer): Promise<Told> {
  const head = headOf(picture);
  if (!head) return { words: { failed: "damaged" } };
  const { type, orientation, ...stored } = head;
  const size = orientation > 4 ? { width: stored.height, height: stored.width } : stored;
  const about = { format: TAKEN.get(type) ?? type, ...size };
  if (!DECODED.has(type)) return { words: { ...about, failed: "kind" } };
  if (size.width * size.height > job.mostPixels) return { words: { ...about, failed: "large" } };
  const isComplete = isWhole(picture, type);
  if (type === "webp" && !isComplete) return { words: { failed: "damaged" } };
  const { memory } = await initPhoton({ module_or_path: readFileSync(job.wasm) });
  try {
    const image = PhotonImage.new_from_byteslice(picture);
    const isSmall = Math.max(size.width, size.height) <= job.mostSide && picture.length <= job.mostBytes;
    if (isSmall && isComplete && TAKEN.has(type)) return { words: about };
    const { bytes, ...shown } = scaled(image, orientation, type);
    return { words: { ...about, shown }, bytes };
  } catch {
    // The library stops at any fault, and does not say at which.
    if (memory.buffer.byteLength > job.mostMemory / 2) return { words: { ...about, failed: "large" } };
    return { words: { failed: "damaged" } };
  }
}

/** From the header; undefined if that is damaged, or of no picture. */
function headOf(picture: Buffer) {
  try {
    const { width, height, type = "", orientation = 1 } = imageSize(picture);
    return width > 0 && height > 0 ? { width, height, type, orientation } : undefined;
  } catch {
    return undefined;
  }
}

function scaled(image: PhotonImage, orientation: number, type: string) {
  const [width, height] = [image.get_width(), image.get_height()];
  const factor = Math.min(1, job.mostSide / Math.max(width, height));
  const side = (length: number) => Math.max(1, Math.round(length * factor));
  const small = factor < 1 ? resize(image, side(width), side(height), SamplingFilter.Lanczos3) : image;
  const pixels = turned(pixelsOf(small), orientation);
  const png = type === "jpg" ? undefined : imageOf(pixels).get_bytes();
  const isPng = png !== undefined && png.length <= PNG_MOST_BYTES;
  const bytes = isPng ? png : imageOf(onWhite(pixels)).get_bytes_jpeg(JPEG_QUALITY);
  return { width: pixels.width, height: pixels.height, format: isPng ? "png" : "jpeg", bytes };
}

function pixelsOf(image: PhotonImage): Pixels {
  const { buffer, byteOffset, byteLength } = image.get_raw_pixels();
  const data = new Uint32Array(buffer.slice(byteOffset, byteOffset + byteLength));
  return { width: image.get_width(), height: image.get_height(), data };
}

function imageOf({ width, height, data }: Pixels): PhotonImage {
  return new PhotonImage(new Uint8Array(data.buffer), width, height);
}

/** A JPEG has no transparency: without this, hidden colours would show. */
function onWhite({ width, height, data }: Pixels): Pixels {
  const bytes = new Uint8Array(data.buffer.slice(0));
  for (let at = 0; at < bytes.length; at += 4) {
    const alpha = bytes[at + 3] ?? 255;
    for (let channel = at; alpha < 255 && channel < at + 3; channel++)
      bytes[channel] = Math.round(((bytes[channel] ?? 0) * alpha + 255 * (255 - alpha)) / 255);
    bytes[at + 3] = 255;
  }
  return { width, height, data: new Uint32Array(bytes.buffer) };
}

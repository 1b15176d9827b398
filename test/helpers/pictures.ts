/** Small pictures in the formats that models take, for tests. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { initPhoton, PhotonImage } from "@cf-wasm/photon/others";
import { type Colour, makePng } from "./png.ts";

/** A GIF of one pixel. */
const GIF = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

const RED = [0xdd, 0x11, 0x11] as const;
const BLUE = [0x11, 0x22, 0xcc] as const;

/** Red on the left, blue on the right. */
export function redAndBlue(width: number, height: number): Buffer {
  return makePng(width, height, (x) => (x < width / 2 ? RED : BLUE));
}

/** One of each format, by its media type. */
export async function onePictureEach(): Promise<ReadonlyMap<string, Buffer>> {
  const png = makePng(48, 32, (x, y): Colour => [(x * 37) % 256, (y * 91) % 256, (x * y) % 256]);
  const image = await photonImage(png);
  return new Map([
    ["image/png", png],
    ["image/jpeg", Buffer.from(image.get_bytes_jpeg(90))],
    ["image/webp", Buffer.from(image.get_bytes_webp())],
    ["image/gif", GIF],
  ]);
}

/** As a camera that was held upright saves it: the pixels lie, and a note says how to turn them. */
export async function turnedJpeg(png: Buffer, orientation: number): Promise<Buffer> {
  const jpeg = Buffer.from((await photonImage(png)).get_bytes_jpeg(90));
  const tiff = Buffer.from("4d4d002a00000008000101120003000000010000000000000000", "hex");
  tiff.writeUInt16BE(orientation, 18);
  const exif = Buffer.concat([Buffer.from("Exif\0\0", "latin1"), tiff]);
  const segment = Buffer.from([0xff, 0xe1, 0, exif.length + 2]);
  return Buffer.concat([jpeg.subarray(0, 2), segment, exif, jpeg.subarray(2)]);
}

/** Two pixels, black and white. */
export function bitmap(): Buffer {
  const bytes = Buffer.alloc(62);
  bytes.write("BM");
  bytes.writeUInt32LE(bytes.length, 2);
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(2, 18);
  bytes.writeInt32LE(1, 22);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  bytes.fill(0xff, 57, 60);
  return bytes;
}

async function photonImage(png: Buffer): Promise<PhotonImage> {
  const wasm = createRequire(import.meta.url).resolve("@cf-wasm/photon/photon.wasm");
  if (!initPhoton.initialized) await initPhoton({ module_or_path: readFileSync(wasm) });
  return PhotonImage.new_from_byteslice(png);
}

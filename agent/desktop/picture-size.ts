/** Format and size of a picture, from the head of its file. */
import type { PictureFormat } from "./screenshot.ts";

interface Size {
  readonly format: PictureFormat;
  readonly width: number;
  readonly height: number;
}

const PNG_MARK = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const PNG_HEADER_BYTES = 33;

/** Undefined: it is no whole PNG or JPEG. */
export function sizeOf(bytes: Buffer): Size | undefined {
  if (bytes.length > PNG_HEADER_BYTES && bytes.subarray(0, 8).equals(PNG_MARK)) {
    return { format: "png", width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  }
  return bytes.length > 4 && bytes.readUInt16BE(0) === 0xffd8 ? jpegSize(bytes) : undefined;
}

/** From the first frame header, over the segments before it. */
function jpegSize(bytes: Buffer): Size | undefined {
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame)
      return { format: "jpeg", width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
  }
  return undefined;
}

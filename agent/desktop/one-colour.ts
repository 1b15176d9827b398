/** Whether a picture is blank. */
import { promisify } from "node:util";
import { inflate } from "node:zlib";
import type { PictureFormat } from "./screenshot.ts";

interface Size {
  readonly format: PictureFormat;
  readonly width: number;
  readonly height: number;
}

const PNG_MARK = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const PNG_HEADER_BYTES = 33;

/** Undefined if it is not a complete PNG or JPEG. */
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

const inflated = promisify(inflate);
/** A picture of one colour is packed at least this many times; only such a one is unpacked. */
const BLANK_RATIO = 200;

/** Whether a PNG is all one colour, judged by its rows; false for any other picture. */
export async function looksOneColour(bytes: Buffer): Promise<boolean> {
  const size = sizeOf(bytes);
  if (size?.format !== "png") return false;
  const rowBytes = 1 + size.width * bytesPerPixel(bytes);
  const total = rowBytes * size.height;
  if (bytes.length * BLANK_RATIO > total + 100_000) return false;
  const rows = await inflated(dataOf(bytes), { maxOutputLength: total + 1 }).catch(() => undefined);
  return rows?.length === total && isFlat(rows, rowBytes, bytesPerPixel(bytes));
}

/** Samples are of eight bits in pictures of a screen; a palette or grey has one a pixel. */
function bytesPerPixel(png: Buffer): number {
  const type = png[25];
  return type === 6 ? 4 : type === 2 ? 3 : type === 4 ? 2 : 1;
}

/** Each row after the first is the same as the one before, and each pixel as the one to its left. */
function isFlat(rows: Buffer, rowBytes: number, step: number): boolean {
  const nothing = Buffer.alloc(rowBytes - 1);
  let above: Buffer = nothing;
  for (let at = 0; at < rows.length; at += rowBytes) {
    const filter = rows[at] ?? 0;
    const filtered = rows.subarray(at + 1, at + rowBytes);
    // No difference to a flat row above (filters Up and Paeth).
    if (at > 0 && (filter === 2 || filter === 4) && filtered.equals(nothing)) continue;
    const row = unfiltered(filtered, filter, above, step);
    if (at > 0 && !row.equals(above)) return false;
    if (!row.subarray(step).equals(row.subarray(0, -step))) return false;
    above = row;
  }
  return true;
}

/** A row without its filter (PNG specification, section 9). */
function unfiltered(row: Buffer, filter: number, above: Buffer, step: number): Buffer {
  if (filter === 0) return row;
  const out = Buffer.alloc(row.length);
  for (let i = 0; i < row.length; i++) {
    const left = i < step ? 0 : (out[i - step] ?? 0);
    const corner = i < step ? 0 : (above[i - step] ?? 0);
    out[i] = (row[i] ?? 0) + predicted(filter, left, above[i] ?? 0, corner);
  }
  return out;
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  return filter === 3 ? (left + up) >> 1 : paeth(left, up, corner);
}

function paeth(left: number, up: number, corner: number): number {
  const a = Math.abs(up - corner);
  const b = Math.abs(left - corner);
  const c = Math.abs(left + up - 2 * corner);
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

/** The packed rows: its IDAT chunks, one after the other. */
function dataOf(png: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 8; at + 12 <= png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString("latin1", at + 4, at + 8) === "IDAT") parts.push(png.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  return Buffer.concat(parts);
}

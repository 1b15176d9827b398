/** Small PNG files, made and looked into, for tests. */
import { crc32, deflateSync, inflateSync } from "node:zlib";

export type Colour = readonly [red: number, green: number, blue: number];

/** A PNG of 8-bit RGB; `filters` are given to its rows in turn (0 none, 1 left, 2 above, 3 average, 4 Paeth). */
export function makePng(
  width: number,
  height: number,
  colourAt: (x: number, y: number) => Colour,
  filters: readonly number[] = [0],
): Buffer {
  const rows: Buffer[] = [];
  let above = Buffer.alloc(width * 3);
  for (let y = 0; y < height; y++) {
    const row = Buffer.from(Array.from({ length: width }, (_, x) => colourAt(x, y)).flat());
    const filter = filters[y % filters.length] ?? 0;
    rows.push(
      Buffer.from([filter]),
      row.map((byte, i) => byte - predicted(filter, row, above, i, 3)) as Buffer,
    );
    above = row;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const mark = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    mark,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.concat(rows))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** The colours of a PNG of 8-bit RGB or RGBA. */
export function readPng(png: Buffer): {
  width: number;
  height: number;
  colourAt: (x: number, y: number) => Colour;
} {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const step = png[25] === 6 ? 4 : 3;
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString("latin1", at + 4, at + 8) === "IDAT") {
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
    }
  }
  const packed = inflateSync(Buffer.concat(parts));
  const rows: Buffer[] = [];
  let above = Buffer.alloc(width * step);
  for (let y = 0; y < height; y++) {
    const at = y * (1 + width * step);
    const row = Buffer.from(packed.subarray(at + 1, at + 1 + width * step));
    for (let i = 0; i < row.length; i++) {
      row[i] = (row[i] ?? 0) + predicted(packed[at] ?? 0, row, above, i, step);
    }
    rows.push(row);
    above = row;
  }
  return {
    width,
    height,
    colourAt: (x, y) => [...(rows[y]?.subarray(x * step, x * step + 3) ?? [])] as unknown as Colour,
  };
}

function predicted(filter: number, row: Buffer, above: Buffer, i: number, step: number): number {
  const left = row[i - step] ?? 0;
  const up = above[i] ?? 0;
  const corner = above[i - step] ?? 0;
  const nearest = () => {
    const p = left + up - corner;
    const far = (value: number) => Math.abs(p - value);
    if (far(left) <= far(up) && far(left) <= far(corner)) return left;
    return far(up) <= far(corner) ? up : corner;
  };
  return [0, left, up, (left + up) >> 1, nearest()][filter] ?? 0;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

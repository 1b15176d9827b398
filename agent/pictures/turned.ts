/** A picture as its camera was held. */

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** One of each pixel's four bytes. */
  readonly data: Uint32Array;
}

/** `orientation` as in Exif, from 1 (as it is) to 8. */
export function turned(pixels: Pixels, orientation: number): Pixels {
  const { width: w, height: h, data } = pixels;
  const from = SOURCES[orientation];
  if (!from) return pixels;
  const [width, height] = orientation > 4 ? [h, w] : [w, h];
  const out = new Uint32Array(data.length);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) out[y * width + x] = data[from(x, y, w - 1, h - 1)] ?? 0;
  return { width, height, data: out };
}

/** Where a pixel of the turned picture was; `r` and `b` are the last column and row. */
const SOURCES: Readonly<Record<number, (x: number, y: number, r: number, b: number) => number>> = {
  2: (x, y, r) => y * (r + 1) + r - x,
  3: (x, y, r, b) => (b - y) * (r + 1) + r - x,
  4: (x, y, r, b) => (b - y) * (r + 1) + x,
  5: (x, y, r) => x * (r + 1) + y,
  6: (x, y, r, b) => (b - x) * (r + 1) + y,
  7: (x, y, r, b) => (b - x) * (r + 1) + r - y,
  8: (x, y, r) => x * (r + 1) + r - y,
};

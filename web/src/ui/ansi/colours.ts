/** A terminal's colours as CSS. Each can be read on what it stands on, whatever the machine chose: nothing hides. */
import type { Colour, TextStyle } from "./style.ts";

export type Rgb = readonly [red: number, green: number, blue: number];

interface Scheme {
  /** What output stands on: `--mantine-color-body` of app/theme.ts. */
  readonly paper: Rgb;
  readonly text: Rgb;
  readonly base: readonly Rgb[];
}

const LIGHT: Scheme = {
  paper: [246, 248, 251],
  text: [16, 20, 30],
  base: [
    ...[0x24292f, 0xb42318, 0x12734a, 0x8a4b00, 0x1c469e, 0x7c2d9c, 0x0b6b78, 0x525d70],
    ...[0x57606a, 0xc8372b, 0x1a7f4b, 0x9a5b00, 0x2456bf, 0x8f3fb3, 0x0f7886, 0x3a4252],
  ].map(rgbOf),
};
const DARK: Scheme = {
  paper: [12, 14, 20],
  text: [230, 234, 242],
  base: [
    ...[0x8a95a9, 0xff8f86, 0x5fd99a, 0xffc266, 0x8fb2ff, 0xd9a3f5, 0x67d6e3, 0xc3cad8],
    ...[0xa3adbf, 0xffa8a0, 0x86e8b4, 0xffd591, 0xadc5ff, 0xe6c2fa, 0x93e4ee, 0xffffff],
  ].map(rgbOf),
};

const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];
const GREY: Rgb = [128, 128, 128];
/** WCAG AA for text. */
const ENOUGH = 4.5;

export interface CssColours {
  readonly color?: string;
  readonly backgroundColor?: string;
}

/** Nothing for text without colours of its own. */
export function cssColours(style: TextStyle): CssColours {
  const { fg, bg, inverse, dim } = style;
  if (fg === undefined && bg === undefined && !inverse)
    return dim ? { color: "var(--mantine-color-dimmed)" } : {};
  const light = coloursIn(LIGHT, style);
  const dark = coloursIn(DARK, style);
  const hasPaper = bg !== undefined || inverse;
  return {
    color: `light-dark(${css(light.ink)}, ${css(dark.ink)})`,
    ...(hasPaper && { backgroundColor: `light-dark(${css(light.paper)}, ${css(dark.paper)})` }),
  };
}

function coloursIn(scheme: Scheme, { fg, bg, inverse }: TextStyle): { ink: Rgb; paper: Rgb } {
  const own = fg === undefined ? scheme.text : colourIn(scheme, fg);
  const below = bg === undefined ? scheme.paper : colourIn(scheme, bg);
  const [ink, paper] = inverse ? [below, own] : [own, below];
  return { ink: readable(ink, paper), paper };
}

function colourIn({ base }: Scheme, colour: Colour): Rgb {
  if (typeof colour !== "number") return colour;
  if (colour < 16) return base[colour] ?? GREY;
  if (colour >= 232) {
    const grey = 8 + 10 * (colour - 232);
    return [grey, grey, grey];
  }
  const step = (at: number) => [0, 95, 135, 175, 215, 255][at % 6] ?? 0;
  const cube = colour - 16;
  return [step(Math.floor(cube / 36)), step(Math.floor(cube / 6)), step(cube)];
}

/** The colour, or the nearest to it on the way to black or white that has enough contrast. */
export function readable(ink: Rgb, paper: Rgb): Rgb {
  const end = contrast(WHITE, paper) > contrast(BLACK, paper) ? WHITE : BLACK;
  for (let share = 0; share < 1; share += 0.1) {
    const mixed = mix(ink, end, share);
    if (contrast(mixed, paper) >= ENOUGH) return mixed;
  }
  return end;
}

function mix([red, green, blue]: Rgb, end: Rgb, share: number): Rgb {
  const between = (from: number, to: number) => Math.round(from + (to - from) * share);
  return [between(red, end[0]), between(green, end[1]), between(blue, end[2])];
}

/** As WCAG defines it, 1 to 21. */
export function contrast(one: Rgb, other: Rgb): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance([red, green, blue]: Rgb): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function linear(part: number): number {
  const value = part / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function rgbOf(hex: number): Rgb {
  return [hex >> 16, (hex >> 8) & 255, hex & 255];
}

function css(colour: Rgb): string {
  return `rgb(${colour.join(" ")})`;
}

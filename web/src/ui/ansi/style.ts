/** How a terminal's text looks: what the parameters of SGR (`ESC [ … m`) make of it. */

/** One of a terminal's 256 colours, or red, green and blue of 0 to 255. */
export type Colour = number | readonly [red: number, green: number, blue: number];

export interface TextStyle {
  readonly fg?: Colour;
  readonly bg?: Colour;
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly inverse?: boolean;
  readonly strike?: boolean;
}

export const PLAIN: TextStyle = {};

type Flag = Exclude<keyof TextStyle, "fg" | "bg">;

/** Blinking (5, 6) annoys and concealing (8) hides: neither is done. */
const ON: Readonly<Record<number, Flag>> = {
  1: "bold",
  2: "dim",
  3: "italic",
  4: "underline",
  7: "inverse",
  9: "strike",
  21: "underline",
};
const OFF: Readonly<Record<number, readonly Flag[]>> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  29: ["strike"],
};

/** The style after the parameters of one SGR, as they stand between `[` and `m`. */
export function styledBy(style: TextStyle, parameters: string): TextStyle {
  let next = style;
  const groups = parameters.split(";");
  for (let at = 0; at < groups.length; at++) {
    const group = groups[at] ?? "";
    const code = Number(group.split(":", 1)[0] || 0);
    if (code === 38 || code === 48) {
      const { colour, used } = extendedColour(group, groups, at);
      at += used;
      if (colour !== undefined) next = { ...next, [code === 38 ? "fg" : "bg"]: colour };
    } else if (group === "4:0") next = without(next, ["underline"]);
    else next = styledByCode(next, code);
  }
  return next;
}

function styledByCode(style: TextStyle, code: number): TextStyle {
  if (code === 0) return PLAIN;
  const flag = ON[code];
  if (flag) return { ...style, [flag]: true };
  const flags = OFF[code];
  if (flags) return without(style, flags);
  if (code >= 30 && code <= 37) return { ...style, fg: code - 30 };
  if (code >= 40 && code <= 47) return { ...style, bg: code - 40 };
  if (code >= 90 && code <= 97) return { ...style, fg: code - 82 };
  if (code >= 100 && code <= 107) return { ...style, bg: code - 92 };
  if (code === 39) return without(style, ["fg"]);
  if (code === 49) return without(style, ["bg"]);
  return style;
}

/** `38;5;n`, `38;2;r;g;b`, or the same with colons, where a colour space may stand before red. */
function extendedColour(group: string, groups: readonly string[], at: number) {
  const hasColons = group.includes(":");
  const [, kind, ...values] = hasColons ? group.split(":") : groups.slice(at, at + 5);
  const numbers = values.map((value) => Math.min(255, Number(value) || 0));
  if (kind === "5") return { colour: numbers[0], used: hasColons ? 0 : 2 };
  if (kind !== "2") return { colour: undefined, used: hasColons ? 0 : 1 };
  const [red = 0, green = 0, blue = 0] = hasColons ? numbers.slice(-3) : numbers;
  return { colour: [red, green, blue] as const, used: hasColons ? 0 : 4 };
}

function without(style: TextStyle, keys: readonly (keyof TextStyle)[]): TextStyle {
  return Object.fromEntries(
    Object.entries(style).filter(([key]) => !keys.some((each) => each === key)),
  ) as TextStyle;
}

/** Ctrl and Alt of the key bar: for the next key, or locked by a double tap until they are tapped again. */
import { create } from "zustand";

export type Modifier = "ctrl" | "alt";
export type Hold = "off" | "once" | "locked";

/** A second tap within this time locks it, in milliseconds. */
const DOUBLE_WITHIN = 400;

interface Held {
  readonly ctrl: Hold;
  readonly alt: Hold;
}

export const useModifiers = create<Held>(() => ({ ctrl: "off", alt: "off" }));

let last: { readonly modifier: Modifier; readonly at: number } | undefined;

/** `at`: in milliseconds. */
export function tapModifier(modifier: Modifier, at: number): void {
  const before = useModifiers.getState()[modifier];
  const isDouble = last?.modifier === modifier && at - last.at < DOUBLE_WITHIN;
  last = { modifier, at };
  const next: Hold = before === "off" ? "once" : before === "once" && isDouble ? "locked" : "off";
  useModifiers.setState({ [modifier]: next });
}

export function releaseModifiers(): void {
  last = undefined;
  useModifiers.setState({ ctrl: "off", alt: "off" });
}

/** What is typed, with the modifiers that are held; those for one key are released. Anything but one character stays as it is. */
export function withModifiers(data: string): string {
  const { ctrl, alt } = useModifiers.getState();
  if ((ctrl === "off" && alt === "off") || [...data].length !== 1 || data < " ") return data;
  useModifiers.setState({ ctrl: afterKey(ctrl), alt: afterKey(alt) });
  const key = ctrl === "off" ? data : controlOf(data);
  return alt === "off" ? key : `\u001b${key}`;
}

/** A cursor key, such as `A` for up. `isApplication`: the program wants them in that mode (DECCKM). */
export function arrowKey(letter: "A" | "B" | "C" | "D", isApplication: boolean): string {
  const { ctrl, alt } = useModifiers.getState();
  useModifiers.setState({ ctrl: afterKey(ctrl), alt: afterKey(alt) });
  const held = 1 + (alt === "off" ? 0 : 2) + (ctrl === "off" ? 0 : 4);
  if (held > 1) return `\u001b[1;${held}${letter}`;
  return isApplication ? `\u001bO${letter}` : `\u001b[${letter}`;
}

function afterKey(hold: Hold): Hold {
  return hold === "once" ? "off" : hold;
}

/** The control character of a key; the key itself if it has none. */
function controlOf(key: string): string {
  if (key === " ") return "\0";
  if (key === "?") return "\u007f";
  const code = key.toUpperCase().charCodeAt(0);
  return code >= 0x40 && code <= 0x5f ? String.fromCharCode(code & 0x1f) : key;
}

/** How terminals look here: chosen on the page, and kept in this browser. */
import { create } from "zustand";
import { store, storedJson } from "../../base/storage.ts";

export interface Preferences {
  /** In pixels. */
  readonly fontSize: number;
  /** Lines above the screen that can be scrolled back to. */
  readonly scrollback: number;
  /** What is written is also put into the page as text, for screen readers. */
  readonly isReadOut: boolean;
}

export const FONT_SIZES = { least: 8, most: 32 } as const;
export const SCROLLBACKS = [1_000, 5_000, 20_000, 100_000] as const;

const USUAL: Preferences = { fontSize: 14, scrollback: 5_000, isReadOut: false };
const KEY = "matrx-terminal";

export const usePreferences = create<Preferences>(() => kept());

export function prefer(change: Partial<Preferences>): void {
  usePreferences.setState(change);
  // What another tab chose stays.
  store("browser", KEY, JSON.stringify({ ...kept(), ...change }));
}

/** So many pixels larger, or smaller, within bounds. */
export function growFont(pixels: number): void {
  const size = usePreferences.getState().fontSize + pixels;
  prefer({ fontSize: Math.min(FONT_SIZES.most, Math.max(FONT_SIZES.least, size)) });
}

function kept(): Preferences {
  const value = storedJson("browser", KEY);
  if (typeof value !== "object" || value === null) return USUAL;
  const { fontSize, scrollback, isReadOut }: Partial<Record<keyof Preferences, unknown>> = value;
  const { least, most } = FONT_SIZES;
  return {
    fontSize:
      typeof fontSize === "number" && fontSize >= least && fontSize <= most ? fontSize : USUAL.fontSize,
    scrollback: SCROLLBACKS.find((lines) => lines === scrollback) ?? USUAL.scrollback,
    isReadOut: isReadOut === true,
  };
}

/** How large everything is: chosen here, and kept in this browser. `public/color-scheme.js` reads it before anything is drawn. */
import { store, stored } from "./storage.ts";

/** As parts of the size that the browser is set to. */
export const SIZES = { compact: "90%", normal: "", large: "112.5%" } as const;
export type Size = keyof typeof SIZES;

const KEY = "matrx-size";

export function chosenSize(): Size {
  const kept = stored("browser", KEY);
  return kept === SIZES.compact ? "compact" : kept === SIZES.large ? "large" : "normal";
}

export function chooseSize(size: Size): void {
  store("browser", KEY, SIZES[size]);
  document.documentElement.style.fontSize = SIZES[size];
}

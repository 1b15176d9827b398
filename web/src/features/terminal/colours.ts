/** A terminal's colours, of the theme's own. Text that is too faint on its ground is made stronger by xterm itself. */
import type { ITheme } from "@xterm/xterm";

const DARK: ITheme = {
  background: "#0c0e14",
  foreground: "#e6eaf2",
  cursor: "#8fb2ff",
  cursorAccent: "#0c0e14",
  selectionBackground: "#2f66db80",
  scrollbarSliderBackground: "#39425a80",
  scrollbarSliderHoverBackground: "#39425acc",
  scrollbarSliderActiveBackground: "#5a6478",
  black: "#2a3142",
  red: "#ff8f86",
  green: "#5fd99a",
  yellow: "#ffc266",
  blue: "#8fb2ff",
  magenta: "#d7a6ff",
  cyan: "#6fd3e8",
  white: "#c3cad8",
  brightBlack: "#8a95a9",
  brightRed: "#ffb0a8",
  brightGreen: "#8cebb8",
  brightYellow: "#ffd699",
  brightBlue: "#b5ccff",
  brightMagenta: "#e6c8ff",
  brightCyan: "#a2e6f3",
  brightWhite: "#ffffff",
};

const LIGHT: ITheme = {
  background: "#ffffff",
  foreground: "#1d2330",
  cursor: "#2456bf",
  cursorAccent: "#ffffff",
  selectionBackground: "#4a80f055",
  scrollbarSliderBackground: "#8a95a980",
  scrollbarSliderHoverBackground: "#8a95a9cc",
  scrollbarSliderActiveBackground: "#5a6478",
  black: "#1d2330",
  red: "#b42318",
  green: "#12734a",
  yellow: "#8a4b00",
  blue: "#1c469e",
  magenta: "#7a2ea0",
  cyan: "#0b6577",
  white: "#525d70",
  brightBlack: "#525d70",
  brightRed: "#c02b22",
  brightGreen: "#0d7d4d",
  brightYellow: "#945700",
  brightBlue: "#2456bf",
  brightMagenta: "#8a3bb3",
  brightCyan: "#0f7388",
  brightWhite: "#39425a",
};

export function coloursOf(scheme: "light" | "dark"): ITheme {
  return scheme === "dark" ? DARK : LIGHT;
}

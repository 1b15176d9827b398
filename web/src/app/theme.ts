/** Colours and defaults. Every text passes WCAG AA in both schemes: `test/web` runs axe over each page. */
import {
  type CSSVariablesResolver,
  createTheme,
  localStorageColorSchemeManager,
  type MantineColorsTuple,
} from "@mantine/core";

/** One accent; 4 is its text on dark, 7 its filled buttons, 8 its text on light. */
const blue: MantineColorsTuple = [
  "#eaf1ff",
  "#d3e0ff",
  "#adc5ff",
  "#8fb2ff",
  "#6b98fb",
  "#4a80f0",
  "#3a72e8",
  "#2f66db",
  "#2456bf",
  "#1c469e",
];

/** Near-black blue: 9 is the page, 8 what lies on it, 7 inputs and hovered, 5 borders. */
const dark: MantineColorsTuple = [
  "#e6eaf2",
  "#c3cad8",
  "#a3adbf",
  "#8a95a9",
  "#5a6478",
  "#39425a",
  "#2a3142",
  "#1d2330",
  "#141821",
  "#0c0e14",
];

/** Its header is none of the page. */
const DIALOG = {
  closeButtonProps: { "aria-label": "Close" },
  attributes: { header: { role: "presentation" } },
};

export const theme = createTheme({
  primaryColor: "blue",
  primaryShade: { light: 7, dark: 7 },
  colors: { blue, dark },
  fontFamily: '"Inter Variable", system-ui, sans-serif',
  fontFamilyMonospace: '"JetBrains Mono Variable", ui-monospace, monospace',
  fontSizes: { xs: "0.75rem", sm: "0.875rem", md: "0.9375rem", lg: "1.0625rem", xl: "1.25rem" },
  headings: { fontWeight: "650", sizes: { h1: { fontSize: "1.25rem" }, h2: { fontSize: "1.0625rem" } } },
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    Loader: { defaultProps: { role: "status", "aria-label": "Loading" } },
    Modal: { defaultProps: { ...DIALOG, centered: true } },
    Alert: { defaultProps: { closeButtonLabel: "Close" } },
  },
});

/** The page is darker than what lies on it; soft text still has 4.5 to 1. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-body": "#f6f8fb",
    "--mantine-color-dimmed": "#525d70",
    "--mantine-color-placeholder": "#667085",
    "--mantine-color-anchor": "#1c469e",
    "--mantine-color-error": "#b42318",
    "--mantine-color-red-outline": "#b42318",
    "--mantine-color-red-light-color": "#b42318",
    "--mantine-color-yellow-outline": "#8a4b00",
    "--surface": "#ffffff",
    "--surface-raised": "#f1f4f9",
    "--border": "#d5dbe5",
    "--ok": "#12734a",
    "--ok-soft": "#d7f3e4",
    "--warn": "#8a4b00",
    "--warn-soft": "#ffeecb",
    "--bad": "#b42318",
    "--bad-soft": "#fde2df",
    "--info": "#1c469e",
    "--info-soft": "#dce7ff",
    "--idle": "#525d70",
    "--idle-soft": "#e6eaf1",
  },
  dark: {
    "--mantine-color-body": "#0c0e14",
    "--mantine-color-text": "#e6eaf2",
    "--mantine-color-dimmed": "#a3adbf",
    "--mantine-color-placeholder": "#8a95a9",
    "--mantine-color-anchor": "#8fb2ff",
    "--mantine-color-error": "#ff8f86",
    "--mantine-color-red-outline": "#ff8f86",
    "--mantine-color-red-light-color": "#ff8f86",
    "--surface": "#141821",
    "--surface-raised": "#1d2330",
    "--border": "#2a3142",
    "--ok": "#5fd99a",
    "--ok-soft": "#0d3323",
    "--warn": "#ffc266",
    "--warn-soft": "#3d2a0a",
    "--bad": "#ff8f86",
    "--bad-soft": "#431714",
    "--info": "#8fb2ff",
    "--info-soft": "#16244a",
    "--idle": "#a3adbf",
    "--idle-soft": "#232938",
  },
});

/** `public/color-scheme.js` reads it before anything is drawn. */
export const colorSchemeManager = localStorageColorSchemeManager({ key: "matrx-color-scheme" });

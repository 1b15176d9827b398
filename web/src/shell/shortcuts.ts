/** The keyboard's shortcuts, in one list: the hook that makes them work, the help and the settings read it. */
import { create } from "zustand";
import { store, stored } from "../base/storage.ts";

/** Where a shortcut leads, or what it does. `$device` is the machine at hand. */
export type Shortcut = {
  /** Pressed one after the other, as `KeyboardEvent.key` names them; `Mod` is held: Ctrl, on a Mac ⌘. */
  readonly keys: readonly string[];
  readonly label: string;
} & (
  | { readonly to: "/fleet" | "/activity" | "/settings" | "/pair" }
  | { readonly to: "/d/$device" | "/d/$device/tools" | "/d/$device/permissions" }
  | { readonly does: "palette" | "help" | "filter" }
);

export const SHORTCUTS: readonly Shortcut[] = [
  { keys: ["Mod", "k"], label: "Search or run", does: "palette" },
  { keys: ["/"], label: "Filter what the page lists", does: "filter" },
  { keys: ["?"], label: "Show these shortcuts", does: "help" },
  { keys: ["g", "f"], label: "Go to your machines", to: "/fleet" },
  { keys: ["g", "a"], label: "Go to the activity", to: "/activity" },
  { keys: ["g", "s"], label: "Go to the settings", to: "/settings" },
  { keys: ["g", "n"], label: "Add a machine", to: "/pair" },
  { keys: ["g", "o"], label: "Go to the machine at hand", to: "/d/$device" },
  { keys: ["g", "t"], label: "Go to its tools", to: "/d/$device/tools" },
  { keys: ["g", "p"], label: "Go to its permissions", to: "/d/$device/permissions" },
];

export const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);

const KEY = "matrx-shortcuts";

interface State {
  /** Keys that are pressed alone can be turned off: speech and some aids press them by mistake. */
  readonly areOn: boolean;
  readonly isHelpOpen: boolean;
}

export const useShortcutState = create<State>(() => ({
  areOn: stored("browser", KEY) !== "off",
  isHelpOpen: false,
}));

export function turnShortcuts(areOn: boolean): void {
  store("browser", KEY, areOn ? "on" : "off");
  useShortcutState.setState({ areOn });
}

export function openHelp(): void {
  useShortcutState.setState({ isHelpOpen: true });
}

export function closeHelp(): void {
  useShortcutState.setState({ isHelpOpen: false });
}

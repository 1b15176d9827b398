/** Makes the keyboard's shortcuts work while the shell is shown: not while something is typed, or a question waits. */
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { openPalette } from "./palette.ts";
import { IS_MAC, openHelp, SHORTCUTS, type Shortcut, useShortcutState } from "./shortcuts.ts";
import { useCurrentDevice } from "./use-current-device.ts";

/** The second key comes within this time, in milliseconds. */
const NEXT_WITHIN = 1_500;
/** What has keys of its own: programs in a terminal and editors get every one of them. */
const OWN_KEYS = ".xterm, .cm-editor, [data-own-keys]";
const FIELDS = "input, textarea, select, [contenteditable='true']";
const FILTERS = "#main input[type='search'], #main input[aria-label^='Filter']";

export function useShortcuts(): void {
  const navigate = useNavigate();
  const device = useCurrentDevice();
  useEffect(() => {
    const go = (shortcut: Shortcut) => {
      if ("does" in shortcut) return ACTIONS[shortcut.does]();
      const { to } = shortcut;
      if (to === "/d/$device" || to === "/d/$device/tools" || to === "/d/$device/permissions") {
        if (device !== undefined) void navigate({ to, params: { device } });
      } else void navigate({ to });
    };
    return listen(go);
  }, [navigate, device]);
}

const ACTIONS = {
  palette: openPalette,
  help: openHelp,
  filter: () => document.querySelector<HTMLInputElement>(FILTERS)?.focus(),
} as const;

function listen(go: (shortcut: Shortcut) => void): () => void {
  let first: { key: string; at: number } | undefined;
  const press = (event: KeyboardEvent) => {
    const { key, target } = event;
    if (event.defaultPrevented || event.isComposing || event.altKey) return;
    if (!(target instanceof Element) || target.closest(OWN_KEYS) || isAsked()) return;
    const isModified = event.ctrlKey || event.metaKey;
    const isMod = IS_MAC ? event.metaKey : event.ctrlKey;
    if (isModified && !isMod) return;
    // Keys that are pressed alone are text in a field.
    if (!isMod && (!useShortcutState.getState().areOn || target.closest(FIELDS))) return;
    const before = first && event.timeStamp - first.at < NEXT_WITHIN ? first.key : undefined;
    first = undefined;
    const found = isMod ? find("Mod", key.toLowerCase()) : (find(before, key) ?? find(undefined, key));
    if (found) {
      event.preventDefault();
      go(found);
    } else if (!isMod) first = { key, at: event.timeStamp };
  };
  addEventListener("keydown", press);
  return () => removeEventListener("keydown", press);
}

function find(before: string | undefined, key: string): Shortcut | undefined {
  const wanted = before === undefined ? [key] : [before, key];
  return SHORTCUTS.find(
    ({ keys }) => keys.length === wanted.length && keys.every((one, index) => one === wanted[index]),
  );
}

function isAsked(): boolean {
  return document.querySelector("[aria-modal='true']") !== null;
}

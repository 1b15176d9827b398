/** Ctrl+S, on a Mac ⌘S: wherever the focus is, but for a terminal beside, whose key it is. */
import { useEffect, useEffectEvent } from "react";
import { IS_MAC } from "../../../shell/shortcuts.ts";

export function useSaveKey(save: () => void): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const { key, altKey, shiftKey, ctrlKey, metaKey, defaultPrevented } = event;
    const isMod = IS_MAC ? metaKey && !ctrlKey : ctrlKey && !metaKey;
    if (defaultPrevented || !isMod || altKey || shiftKey || key.toLowerCase() !== "s") return;
    event.preventDefault();
    if (!event.repeat) save();
  });
  useEffect(() => {
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

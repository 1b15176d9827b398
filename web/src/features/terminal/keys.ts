/** The page's own keys within a terminal. All others belong to the program that runs in it. */
import { IS_MAC } from "../../shell/shortcuts.ts";

export type Command =
  | "new"
  | "close"
  | "detach"
  | "rename"
  | "files"
  | "right"
  | "down"
  | "next tab"
  | "previous tab"
  | "next pane"
  | "previous pane"
  | "search"
  | "copy"
  | "paste"
  | "larger"
  | "smaller"
  | "leave";

interface Key {
  readonly command: Command;
  readonly label: string;
  /** As they are shown. */
  readonly shown: readonly string[];
  /** `KeyboardEvent.code`, pressed with Alt and Shift, or with Ctrl (⌘) and Shift. */
  readonly code: string;
  readonly held: "alt" | "mod";
}

const alt = (code: string, name: string) => ({ held: "alt", code, shown: ["Alt", "Shift", name] }) as const;
const mod = (code: string, name: string) =>
  ({ held: "mod", code, shown: [IS_MAC ? "⌘" : "Ctrl", "Shift", name] }) as const;

export const KEYS: readonly Key[] = [
  { command: "leave", label: "Leave the terminal, to its tabs", ...alt("KeyM", "M") },
  { command: "new", label: "New terminal", ...alt("KeyT", "T") },
  { command: "close", label: "Close", ...alt("KeyW", "W") },
  { command: "detach", label: "Leave running, without its pane", ...alt("KeyL", "L") },
  { command: "rename", label: "Rename the tab", ...alt("KeyR", "R") },
  { command: "files", label: "Go to the files beside it", ...alt("KeyF", "F") },
  { command: "right", label: "Split to the right", ...alt("KeyD", "D") },
  { command: "down", label: "Split downwards", ...alt("KeyS", "S") },
  { command: "next tab", label: "Next tab", ...alt("PageDown", "PageDown") },
  { command: "previous tab", label: "Previous tab", ...alt("PageUp", "PageUp") },
  { command: "next pane", label: "Next pane", ...alt("ArrowRight", "→") },
  { command: "previous pane", label: "Previous pane", ...alt("ArrowLeft", "←") },
  { command: "larger", label: "Larger letters", ...alt("Equal", "+") },
  { command: "smaller", label: "Smaller letters", ...alt("Minus", "−") },
  { command: "search", label: "Search", ...mod("KeyF", "F") },
  { command: "copy", label: "Copy", ...mod("KeyC", "C") },
  { command: "paste", label: "Paste", ...mod("KeyV", "V") },
];

type Pressed = Pick<KeyboardEvent, "code" | "altKey" | "shiftKey" | "ctrlKey" | "metaKey">;

/** Undefined: the key is not the page's. `isFullScreen`: a program has all of the screen, and Ctrl+F is its own. */
export function commandOf(
  { code, altKey, shiftKey, ctrlKey, metaKey }: Pressed,
  isFullScreen: boolean,
): Command | undefined {
  const isMod = IS_MAC ? metaKey && !ctrlKey : ctrlKey && !metaKey;
  if (code === "KeyF" && isMod && !altKey && !shiftKey && !isFullScreen) return "search";
  if (!shiftKey) return undefined;
  const held = altKey && !ctrlKey && !metaKey ? "alt" : isMod && !altKey ? "mod" : undefined;
  return KEYS.find((key) => key.held === held && key.code === code)?.command;
}

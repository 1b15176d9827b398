/** The clipboards of Linux: X11's and Wayland's, whose text stays with the program that copied it. */
import type { ClipboardPrograms } from "../platform.ts";

/** In the foreground each writer is a child of the agent, which can end it. */
const WL_CLIPBOARD: ClipboardPrograms = {
  reader: {
    program: "wl-paste",
    args: ["--no-newline", "--type", "text"],
    empty: /nothing is copied|no selection|no suitable type|not available as requested/i,
  },
  writer: {
    program: "wl-copy",
    // Else it guesses the type by the text, and editors take no application/json.
    args: ["--foreground", "--type", "text/plain"],
    serves: true,
    stdinFor: (text) => text,
  },
};

const XCLIP: ClipboardPrograms = {
  reader: {
    program: "xclip",
    args: ["-selection", "clipboard", "-out"],
    empty: /target \S+ not available/,
  },
  writer: {
    program: "xclip",
    // Not quiet: in the foreground.
    args: ["-selection", "clipboard", "-in", "-quiet"],
    serves: true,
    stdinFor: (text) => text,
  },
};

const XSEL: ClipboardPrograms = {
  reader: { program: "xsel", args: ["--clipboard", "--output"] },
  writer: {
    program: "xsel",
    args: ["--clipboard", "--input", "--nodetach"],
    serves: true,
    stdinFor: (text) => text,
  },
};

export function linuxClipboards({ DISPLAY, WAYLAND_DISPLAY }: NodeJS.ProcessEnv): ClipboardPrograms[] {
  return [...(WAYLAND_DISPLAY ? [WL_CLIPBOARD] : []), ...(DISPLAY ? [XCLIP, XSEL] : [])];
}

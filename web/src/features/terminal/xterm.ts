/** The emulator: xterm.js with what this page adds to it, and without what programs should not be able to do. */
import "@xterm/xterm/css/xterm.css";
import { FitAddon } from "@xterm/addon-fit";
import { SearchAddon } from "@xterm/addon-search";
import { Unicode11Addon } from "@xterm/addon-unicode11";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { type ITheme, Terminal } from "@xterm/xterm";
import { bound } from "./answers.ts";
import type { Preferences } from "./preferences.ts";

export const FONT = '"JetBrains Mono Variable", ui-monospace, monospace';

export interface Emulator {
  readonly terminal: Terminal;
  readonly fit: FitAddon;
  readonly search: SearchAddon;
}

/** `mayAnswer`: see answers.ts. */
export function makeEmulator(
  { fontSize, scrollback, isReadOut }: Preferences,
  theme: ITheme,
  mayAnswer: () => boolean,
): Emulator {
  const terminal = new Terminal({
    ...{ fontSize, scrollback, theme, fontFamily: FONT, screenReaderMode: isReadOut },
    allowProposedApi: true,
    cursorBlink: false,
    // Whatever colours a program chooses, its text can be read.
    minimumContrastRatio: 4.5,
    macOptionClickForcesSelection: true,
    linkHandler: null,
  });
  const fit = new FitAddon();
  const search = new SearchAddon();
  terminal.loadAddon(fit);
  terminal.loadAddon(search);
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = "11";
  terminal.loadAddon(new WebLinksAddon(openLink));
  bound(terminal, mayAnswer);
  return { terminal, fit, search };
}

/** Opens only what is shown as an address of the web. */
function openLink(_event: MouseEvent, address: string): void {
  const url = URL.parse(address);
  if (url?.protocol === "https:" || url?.protocol === "http:") open(url, "_blank", "noopener,noreferrer");
}

/** What is on the screen and above it: at most so many lines, with wrapped ones whole. */
export function lastLines({ buffer }: Terminal, most: number): string {
  const { active } = buffer;
  const lines: string[] = [];
  for (let at = 0; at < active.length; at++) {
    const line = active.getLine(at);
    const isWrapped = active.getLine(at + 1)?.isWrapped ?? false;
    const text = line?.translateToString(!isWrapped) ?? "";
    if (line?.isWrapped && lines.length > 0) lines.push(`${lines.pop()}${text}`);
    else lines.push(text);
  }
  return lines.join("\n").trimEnd().split("\n").slice(-most).join("\n");
}

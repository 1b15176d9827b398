/** Keys by their names, as terminals send them. */

const CSI = "\u001b[";

/** Cursor keys: what follows `CSI`, or `SS3` if the application wants that. */
const CURSOR: Readonly<Record<string, string>> = {
  up: "A",
  down: "B",
  right: "C",
  left: "D",
  home: "H",
  end: "F",
};

const PLAIN: Readonly<Record<string, string>> = {
  enter: "\r",
  tab: "\t",
  "shift-tab": `${CSI}Z`,
  escape: "\u001b",
  space: " ",
  backspace: "\u007f",
  delete: `${CSI}3~`,
  insert: `${CSI}2~`,
  "page-up": `${CSI}5~`,
  "page-down": `${CSI}6~`,
  ...Object.fromEntries(["P", "Q", "R", "S"].map((letter, index) => [`f${index + 1}`, `\u001bO${letter}`])),
  ...Object.fromEntries(
    [15, 17, 18, 19, 20, 21, 23, 24].map((code, index) => [`f${index + 5}`, `${CSI}${code}~`]),
  ),
};

/** The bytes of a key, such as `enter`, `up`, `ctrl-c`, `alt-x` or `q`; undefined: there is none of that name. */
export function keyNamed(name: string, applicationKeys: boolean): string | undefined {
  const known = name.toLowerCase();
  const cursor = CURSOR[known];
  if (cursor !== undefined) return `${applicationKeys ? "\u001bO" : CSI}${cursor}`;
  const control = /^ctrl-([a-z@[\\\]^_])$/.exec(known)?.[1];
  if (control !== undefined) return String.fromCharCode(control.toUpperCase().charCodeAt(0) & 0x1f);
  const alt = /^alt-([!-~])$/i.exec(name)?.[1];
  if (alt !== undefined) return `\u001b${alt}`;
  return /^[!-~]$/.test(name) ? name : PLAIN[known];
}

/** Words of a command line, quoted for the shell that reads it: whatever a file is called, it stays one word. */
import { invalid } from "./failure.ts";

/** Of the shells in which commands can be run. */
export type ShellKind = "posix" | "fish" | "powershell";

/** By the name of its program. */
export function shellKind(name: string): ShellKind {
  const plain = name.toLowerCase().replace(/\.exe$/, "");
  if (plain === "fish") return "fish";
  return plain === "pwsh" || plain === "powershell" ? "powershell" : "posix";
}

const PLAIN = /^[A-Za-z0-9_./:@%+][A-Za-z0-9_./:@%+-]*$/;
const CONTROL = /\p{Cc}/u;
const EACH_CONTROL = /\p{Cc}/gu;

/** Has no control characters itself. Throws PageToolError: PowerShell can't write them within a word. */
export function quoted(word: string, kind: ShellKind): string {
  if (PLAIN.test(word) && kind !== "powershell") return word;
  if (kind === "powershell") {
    if (CONTROL.test(word)) throw invalid("A name with control characters can't be given to this shell");
    // Some other marks end a string there, too.
    return `'${word.replace(/['\u2018-\u201b]/g, "$&$&")}'`;
  }
  if (kind === "fish")
    return `'${word.replace(/[\\']/g, "\\$&").replace(EACH_CONTROL, (char) => `'${bytesOf(char, "\\X")}'`)}'`;
  if (!CONTROL.test(word)) return `'${word.replaceAll("'", "'\\''")}'`;
  // An exclamation mark would be looked up in the history.
  return `$'${word.replace(/[\\'!]|\p{Cc}/gu, (char) => bytesOf(char, "\\x"))}'`;
}

/** Each byte of it in hexadecimal. */
function bytesOf(char: string, mark: string): string {
  const bytes = [...new TextEncoder().encode(char)];
  return bytes.map((byte) => mark + byte.toString(16).padStart(2, "0")).join("");
}

const USUAL_EDITOR: Readonly<Record<ShellKind, string>> = {
  posix: `\${EDITOR:-vi}`,
  fish: "vi",
  powershell: "vi",
};

export interface EditorCall {
  /** A command with arguments; undefined: the machine's usual one. */
  readonly editor: string | undefined;
  /** Absolute paths. */
  readonly files: readonly string[];
}

/** The line that opens the files. `shell`: the name of its program. */
export function editorLine({ editor, files }: EditorCall, shell: string): string {
  const kind = shellKind(shell);
  const names = files.map((file) => quoted(file, kind));
  return [editorWords(editor, shell), ...names].join(" ");
}

function editorWords(editor: string | undefined, shell: string): string {
  const kind = shellKind(shell);
  if (editor === undefined) {
    // There, a variable is one word unless it is told otherwise.
    if (shell === "zsh") return `\${=EDITOR:-vi}`;
    return USUAL_EDITOR[kind];
  }
  const words = wordsOf(editor).map((word) => quoted(word, kind));
  return kind === "powershell" ? `& ${words.join(" ")}` : words.join(" ");
}

/** Throws PageToolError `INVALID_PARAMETERS`. */
export function wordsOf(editor: string): readonly string[] {
  if (CONTROL.test(editor)) throw invalid("editor can't have control characters", "Give a command's name");
  const words = editor.split(" ").filter((word) => word !== "");
  if (words.length === 0) throw invalid("editor is empty", "Give a command's name, or leave it out");
  return words;
}

/** Names of files in a command line, as the shells themselves read them. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { editorLine, quoted } from "../../../web/src/features/page-tools/shell-words.ts";

const HOSTILE = [
  "plain",
  "",
  "two words",
  "it's",
  `"$(id)" \`id\` $HOME`,
  "-rf",
  "new\nline\r\ttab",
  "!! history!",
  "back\\slash\\",
  "\\'\n!'",
  "bell\u0007 escape\u001b[201~ \u0085next",
  "\u202e reversed, é, 😀",
  "*?[a]{b,c}~#;&|<>()",
];

/** What a shell makes of each word. */
function asRead(shell: string, args: readonly string[], words: readonly string[]): string[] {
  const program = `process.stdout.write(JSON.stringify(process.argv.slice(1)))`;
  const line = `${quoted(process.execPath, shell === "fish" ? "fish" : "posix")} -e '${program}' -- ${words.join(" ")}`;
  const { stdout, stderr } = spawnSync(shell, [...args, line], { encoding: "utf8" });
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

test.each([
  ["bash", ["-c"], "posix"],
  ["bash", ["-o", "histexpand", "-c"], "posix"],
  ["zsh", ["-fc"], "posix"],
  ["fish", ["--no-config", "-c"], "fish"],
] as const)("%s %j reads each quoted name as one word, as it is", (shell, args, kind) => {
  const words = HOSTILE.map((word) => quoted(word, kind));
  // No agent takes control characters in a command.
  for (const word of words) expect(word).not.toMatch(/\p{Cc}/u);
  expect(asRead(shell, args, words)).toEqual(HOSTILE);
});

test("PowerShell's words are doubly quoted, and those with control characters are refused", () => {
  expect(quoted("it's $x \u2019y", "powershell")).toBe("'it''s $x \u2019\u2019y'");
  expect(() => quoted("a\nb", "powershell")).toThrow("control characters");
});

test("an editor is a command with its arguments, and no more", () => {
  const files = ["/tmp/a b"];
  expect(editorLine({ editor: undefined, files }, "bash")).toBe(`\${EDITOR:-vi} '/tmp/a b'`);
  expect(editorLine({ editor: undefined, files }, "zsh")).toBe(`\${=EDITOR:-vi} '/tmp/a b'`);
  expect(editorLine({ editor: "code --wait", files }, "bash")).toBe("code '--wait' '/tmp/a b'");
  expect(editorLine({ editor: "cat; id", files }, "bash")).toBe("'cat;' id '/tmp/a b'");
  expect(editorLine({ editor: "notepad", files }, "pwsh")).toBe("& 'notepad' '/tmp/a b'");
  for (const editor of ["vi\nid", "\u001b[201~", "  "])
    expect(() => editorLine({ editor, files }, "bash")).toThrow();
});

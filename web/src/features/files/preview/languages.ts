/** The language of a text, by its file's name. */
import { endingOf } from "../kinds.ts";

const ENDINGS = {
  bash: "sh bash zsh profile bashrc",
  cpp: "c h cc cpp hpp cxx",
  css: "css scss less",
  diff: "diff patch",
  go: "go",
  ini: "ini toml conf cfg env properties service",
  java: "java kt",
  javascript: "js mjs cjs jsx",
  json: "json jsonc webmanifest",
  makefile: "mk makefile",
  markdown: "md markdown",
  python: "py pyi",
  rust: "rs",
  sql: "sql",
  typescript: "ts tsx mts cts",
  xml: "xml html htm svg xhtml plist",
  yaml: "yml yaml",
} as const;

export type Language = keyof typeof ENDINGS;

const LANGUAGES: ReadonlyMap<string, Language> = new Map(
  Object.entries(ENDINGS).flatMap(([language, endings]) =>
    endings.split(" ").map((ending) => [ending, language as Language] as const),
  ),
);

/** Undefined: none that this page knows. */
export function languageOf(name: string): Language | undefined {
  return LANGUAGES.get(endingOf(name) || name.toLowerCase());
}

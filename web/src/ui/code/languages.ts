/** The language of a text, by its file's name. */

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

/** By its name or its path. Undefined: none that the app knows. */
export function languageOf(name: string): Language | undefined {
  const file = name.slice(name.search(/[^/\\]*$/)).toLowerCase();
  return LANGUAGES.get(/\.([^.]+)$/.exec(file)?.[1] ?? file);
}

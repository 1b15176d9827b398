/** File types by name: ripgrep's most used ones, kept here so that both engines agree. */
import { nearestName } from "@matrx/shared/effects.ts";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { FileChoice } from "./engine.ts";
import { pathPattern } from "./path-pattern.ts";

/** Globs of names, separated by spaces, as in `rg --type-list`. */
export const FILE_TYPES: Readonly<Record<string, string>> = {
  asm: "*.S *.asm *.s",
  awk: "*.awk",
  bat: "*.bat",
  bazel: "*.BUILD *.bazel *.bazelrc *.bzl BUILD MODULE.bazel WORKSPACE WORKSPACE.bazel WORKSPACE.bzlmod",
  c: "*.[chH] *.[chH].in *.cats",
  clojure: "*.clj *.cljc *.cljs *.cljx",
  cmake: "*.cmake CMakeLists.txt",
  coffeescript: "*.coffee",
  config: "*.cfg *.conf *.config *.ini",
  cpp: "*.[ChH] *.[ChH].in *.[ch]pp *.[ch]pp.in *.[ch]xx *.[ch]xx.in *.cc *.cc.in *.hh *.hh.in *.inl",
  cs: "*.cs",
  csharp: "*.cs",
  css: "*.css *.scss",
  csv: "*.csv",
  dart: "*.dart",
  diff: "*.diff *.patch",
  docker: "*Dockerfile*",
  dockercompose: "docker-compose.*.yml docker-compose.yml",
  elixir: "*.eex *.ex *.exs *.heex *.leex *.livemd",
  elm: "*.elm",
  erlang: "*.erl *.hrl",
  fish: "*.fish",
  fsharp: "*.fs *.fsi *.fsx",
  go: "*.go",
  gradle: "*.gradle *.gradle.kts gradle-wrapper.* gradle.properties gradlew gradlew.bat",
  graphql: "*.graphql *.graphqls",
  groovy: "*.gradle *.groovy",
  h: "*.h *.hh *.hpp",
  haskell: "*.c2hs *.cpphs *.hs *.hsc *.lhs",
  html: "*.ejs *.htm *.html",
  java: "*.java *.jsp *.jspx *.properties",
  jinja: "*.j2 *.jinja *.jinja2",
  js: "*.cjs *.js *.jsx *.mjs *.vue",
  json: "*.json *.sarif composer.lock",
  jsonl: "*.jsonl",
  julia: "*.jl",
  jupyter: "*.ipynb *.jpynb",
  kotlin: "*.kt *.kts",
  less: "*.less",
  lisp: "*.el *.jl *.lisp *.lsp *.sc *.scm",
  lock: "*.lock package-lock.json",
  log: "*.log",
  lua: "*.lua",
  make: "*.mak *.mk Makefile.* [Gg][Nn][Uu]makefile [Gg][Nn][Uu]makefile.am [Gg][Nn][Uu]makefile.in [Mm]akefile [Mm]akefile.am [Mm]akefile.in",
  markdown: "*.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn",
  md: "*.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn",
  nim: "*.nim *.nimble *.nimf *.nims",
  nix: "*.nix",
  objc: "*.h *.m",
  ocaml: "*.ml *.mli *.mll *.mly",
  perl: "*.PL *.perl *.pl *.plh *.plx *.pm *.t",
  php: "*.php *.php3 *.php4 *.php5 *.php7 *.php8 *.pht *.phtml",
  protobuf: "*.proto",
  ps: "*.cdxml *.ps1 *.ps1xml *.psd1 *.psm1",
  py: "*.py *.pyi",
  python: "*.py *.pyi",
  r: "*.R *.Rmd *.Rnw *.r *.rmd *.rnw",
  rst: "*.rst",
  ruby: "*.gemspec *.rake *.rb *.rbw .irbrc Gemfile Rakefile config.ru",
  rust: "*.rs",
  sass: "*.sass *.scss",
  scala: "*.sbt *.scala",
  sh: "*.bash *.bashrc *.csh *.cshrc *.env *.ksh *.kshrc *.sh *.tcsh *.zsh .bash_login .bash_logout .bash_profile .bashrc .cshrc .env .kshrc .login .logout .profile .tcshrc .zlogin .zlogout .zprofile .zshenv .zshrc bash_login bash_logout bash_profile bashrc profile zlogin zlogout zprofile zshenv zshrc",
  sql: "*.psql *.sql",
  svelte: "*.svelte *.svelte.ts",
  svg: "*.svg",
  swift: "*.swift",
  tex: "*.bib *.cls *.dtx *.ins *.ltx *.sty *.tex",
  tf: "*.terraform.lock.hcl *.terraformrc *.tf *.tf.json *.tfrc *.tfvars *.tfvars.json terraform.rc",
  toml: "*.toml Cargo.lock",
  ts: "*.cts *.mts *.ts *.tsx",
  txt: "*.txt",
  typescript: "*.cts *.mts *.ts *.tsx",
  vb: "*.vb",
  vim: "*.vim .gvimrc .vimrc _gvimrc _vimrc gvimrc vimrc",
  vue: "*.vue",
  xml: "*.dtd *.rng *.sch *.xhtml *.xjb *.xml *.xml.dist *.xsd *.xsl *.xslt",
  yaml: "*.yaml *.yml",
  zig: "*.zig",
};

/** Files of a type: its name, or an extension that files of a type have. Throws MatrxError `INVALID_PARAMETERS`. */
export function fileType(wanted: string, showHidden: boolean): FileChoice {
  const name = wanted.replace(/^\*?\./, "").toLowerCase();
  const globs = Object.hasOwn(FILE_TYPES, name) ? (FILE_TYPES[name] ?? "").split(" ") : extension(name);
  if (!globs) throw unknownType(wanted);
  const patterns = globs.map((glob) => pathPattern(glob, showHidden));
  const hints = patterns.flatMap(({ nameHints }) => nameHints);
  return {
    nameHints: hints.length === patterns.length ? hints : [],
    // Given a type, an engine may also return dotfiles of that type.
    matches: (path) =>
      (showHidden || !HIDDEN.test(path)) && patterns.some((pattern) => pattern.matches(path)),
  };
}

const HIDDEN = /(?:^|\/)\./;

function extension(name: string): string[] | undefined {
  const glob = `*.${name}`;
  const isKnown = Object.values(FILE_TYPES).some((globs) => globs.split(" ").includes(glob));
  return isKnown ? [glob] : undefined;
}

function unknownType(wanted: string): MatrxError {
  const near = nearestName(wanted, Object.keys(FILE_TYPES));
  return toolError("INVALID_PARAMETERS", `type: "${wanted.slice(0, 64)}" is not a known file type`, {
    hint: `${near ? `Did you mean "${near}"? Otherwise use` : "Use"} include with a glob, such as *.ts`,
    details: { field: "type", ...(near && { did_you_mean: near }) },
  });
}

/** The agent and its command line as `npm start` runs them and `npm run pack` publishes them. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, build, type Metafile, stop } from "esbuild";
import type { Build } from "./fresh-build.ts";
import { messageOf, Problem } from "./problem.ts";
import { AGENT_BUNDLE, ROOT } from "./tree.ts";

const SOURCES = join(ROOT, "agent");

/** Its packages come without their licence. */
const XTERM_LICENCE = join(ROOT, "scripts/licences/xterm.txt");

/** Programs and native code: npm fetches what fits the machine. */
const NATIVE = ["@lydell/node-pty", "@vscode/ripgrep", "node-screenshots"];

/** Some of the bundled libraries are CommonJS, and ask for Node's own modules at run time. */
const REQUIRE = `import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);`;

/** The licences of the bundled packages. */
export const NOTICES = "THIRD-PARTY-NOTICES.txt";

/** What a package.json here gives to the package's own. */
interface Manifest {
  readonly imports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

export const AGENT: Build = {
  folder: AGENT_BUNDLE,
  entry: "bin/matrx.js",
  sources: ["agent", "client", "shared", "package.json", "package-lock.json", "scripts/agent-bundle.ts"],
  progress: "Building the agent ...",
  async make(aside) {
    const agent = manifestIn(SOURCES);
    const bundled = await bundle(agent, join(aside, "dist"));
    cpSync(join(SOURCES, "bin"), join(aside, "bin"), { recursive: true });
    cpSync(join(ROOT, "LICENSE"), join(aside, "LICENSE"));
    mkdirSync(aside, { recursive: true });
    writeFileSync(join(aside, NOTICES), noticesOf(bundled.flatMap(({ inputs }) => Object.keys(inputs))));
    writeFileSync(join(aside, "package.json"), JSON.stringify(publishedManifest(agent), undefined, 2));
  },
};

/** Its main file loads its parts in a way that bundlers don't follow. */
const BUNDLED_AS = { "jsonc-parser": "jsonc-parser/lib/esm/main.js" };

/**
 * The program, in parts, of which a command loads its own: a call is made in half the time. A command has all of its parts
 * from its start, so that one that runs for weeks misses none after its package was replaced. Beside it each file that the
 * program starts or loads as a program of its own, those of `imports`: one file each, under the same names for good.
 */
async function bundle({ imports }: Manifest, outdir: string): Promise<Metafile[]> {
  const common: BuildOptions & { metafile: true } = {
    absWorkingDir: SOURCES,
    outdir,
    bundle: true,
    external: [...NATIVE, ...Object.keys(imports)],
    alias: BUNDLED_AS,
    // Code for WebAssembly, which is read as a file.
    loader: { ".wasm": "copy" },
    platform: "node",
    target: "node24",
    format: "esm",
    banner: { js: REQUIRE },
    metafile: true,
    logLevel: "silent",
  };
  const alone = Object.fromEntries(Object.entries(imports).map(([name, source]) => [name.slice(1), source]));
  try {
    const program = await build({
      ...common,
      entryPoints: { matrx: "./cli/main.ts" },
      splitting: true,
      chunkNames: "matrx/[name]-[hash]",
    });
    const others = await build({ ...common, entryPoints: alone });
    return [program.metafile, others.metafile];
  } catch (error) {
    throw new Problem(`The agent cannot be bundled:\n${messageOf(error)}`);
  } finally {
    await stop();
  }
}

function publishedManifest({ imports, dependencies, optionalDependencies, ...agent }: Manifest) {
  const named = (all: Readonly<Record<string, string>>, isIt: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => isIt(name)));
  return {
    ...agent,
    private: undefined,
    files: ["bin", "dist", "web", NOTICES],
    imports: Object.fromEntries(
      Object.entries(imports).map(([name, source]) => [name, builtFrom(name, source)]),
    ),
    dependencies: named(dependencies, (name) => NATIVE.includes(name)),
    optionalDependencies: {
      ...optionalDependencies,
      // For machines whose own Node is too old.
      ...named(manifestIn(ROOT).optionalDependencies, (name) => name.startsWith("node-")),
    },
  };
}

/** Where the bundle has what `imports` names so. */
function builtFrom(name: string, source: string): string {
  return `./dist/${name.slice(1)}${source.endsWith(".wasm") ? ".wasm" : ".js"}`;
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/** The licences of all packages that these files come from, in full, as the licences ask for. */
function noticesOf(files: readonly string[]): string {
  const packages = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(packages)]
    .sort()
    .map((folder) => noticeOf(join(SOURCES, folder)))
    .join("\n");
}

function noticeOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
    .map((file) => join(folder, file));
  const own = /^@xterm\//.test(name) ? [XTERM_LICENCE] : [];
  const texts = (files.length > 0 ? files : own).map((file) => readFileSync(file, "utf8"));
  return notice(`${name} ${version} (${license})`, texts);
}

/** One package's part of the notices. */
export function notice(title: string, texts: readonly string[]): string {
  return [`${"=".repeat(80)}\n${title}\n`, ...texts].join("\n");
}

/** The agent as an npm package: its program in a few bundled files, and as dependencies only what no bundle can hold. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { build, type Metafile, stop } from "esbuild";
import { messageOf, Problem } from "./problem.ts";
import { referenceLicences } from "./reference-bundle.ts";
import { REFERENCE_BUNDLE, ROOT } from "./tree.ts";

const AGENT = join(ROOT, "agent");
const NOTICES = "THIRD-PARTY-NOTICES.txt";

/** Its packages come without their licence. */
const XTERM_LICENCE = join(ROOT, "scripts/licences/xterm.txt");

/** Programs and native code: npm fetches what fits the machine. */
const NATIVE = ["@lydell/node-pty", "@vscode/ripgrep", "node-screenshots"];

/** Some of the bundled libraries are CommonJS, and ask for Node's own modules at run time. */
const REQUIRE = `import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);`;

/** What a package.json here gives to the package's own. */
interface Manifest {
  readonly imports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/** Makes the tarball in this folder, with the page of `dist/reference`. Resolves with its path. Throws Problem. */
export async function packAgent(folder: string): Promise<string> {
  const agent = manifestIn(AGENT);
  const stage = mkdtempSync(join(tmpdir(), "matrx-pack-"));
  try {
    const { inputs } = await bundle(agent, join(stage, "dist"));
    cpSync(join(AGENT, "bin"), join(stage, "bin"), { recursive: true });
    cpSync(REFERENCE_BUNDLE, join(stage, "web"), { recursive: true, filter: isPublished });
    cpSync(join(ROOT, "LICENSE"), join(stage, "LICENSE"));
    writeFileSync(join(stage, NOTICES), noticesOf(Object.keys(inputs)));
    writeFileSync(join(stage, "package.json"), JSON.stringify(publishedManifest(agent), undefined, 2));
    mkdirSync(folder, { recursive: true });
    const tarball = await npmPack(stage);
    cpSync(join(stage, tarball), join(folder, tarball));
    return join(folder, tarball);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** The build's own notes are not. */
function isPublished(file: string): boolean {
  return !basename(file).startsWith(".");
}

/** The program, and each file that it starts or loads as a program of its own: those of `imports`. */
async function bundle({ imports }: Manifest, outdir: string): Promise<Metafile> {
  const parts = Object.entries(imports).map(([name, source]) => [name.slice(1), source]);
  try {
    const { metafile } = await build({
      absWorkingDir: AGENT,
      entryPoints: { matrx: "./cli/main.ts", ...Object.fromEntries(parts) },
      outdir,
      bundle: true,
      external: NATIVE,
      platform: "node",
      target: "node24",
      format: "esm",
      banner: { js: REQUIRE },
      metafile: true,
      logLevel: "silent",
    });
    return metafile;
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
    imports: Object.fromEntries(Object.keys(imports).map((name) => [name, `./dist/${name.slice(1)}.js`])),
    dependencies: named(dependencies, (name) => NATIVE.includes(name)),
    optionalDependencies: {
      ...optionalDependencies,
      // For machines whose own Node is too old.
      ...named(manifestIn(ROOT).optionalDependencies, (name) => name.startsWith("node-")),
    },
  };
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/** The licences of all packages that these files and the page come from, in full, as the licences ask for. */
function noticesOf(files: readonly string[]): string {
  const packages = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  const bundled = [...new Set(packages)].sort().map((folder) => noticeOf(join(AGENT, folder)));
  const ofPage = referenceLicences().map(({ name, version, identifier, text = "" }) =>
    notice(`${name} ${version} (${identifier})`, [text]),
  );
  return [...new Set([...bundled, ...ofPage])].join("\n");
}

function notice(title: string, texts: readonly string[]): string {
  return [`${"=".repeat(80)}\n${title}\n`, ...texts].join("\n");
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

/** Makes the tarball of a folder in that folder. Resolves with its name. */
async function npmPack(cwd: string): Promise<string> {
  const shell = process.platform === "win32";
  const { stdout } = await promisify(execFile)("npm", ["pack", "--json", "--loglevel=error"], { cwd, shell });
  return JSON.parse(stdout)[0].filename;
}

/** The client as an npm package: one file of JavaScript, and its types, both with what they need of `shared/` inside. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { build, stop } from "esbuild";
import { packInto } from "./npm-pack.ts";
import { messageOf, Problem } from "./problem.ts";
import { ROOT } from "./tree.ts";

const SOURCES = join(ROOT, "client");

/** What its package.json here gives to the package's own. */
interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Makes the tarball in this folder. Resolves with its path. Throws Problem. */
export function packClient(folder: string): Promise<string> {
  return packInto(folder, async (stage) => {
    const client: Manifest = JSON.parse(readFileSync(join(SOURCES, "package.json"), "utf8"));
    const { "@matrx/shared": _, ...dependencies } = client.dependencies;
    await bundle(join(stage, "index.js"), Object.keys(dependencies));
    await writeTypes(join(stage, "types"));
    cpSync(join(ROOT, "LICENSE"), join(stage, "LICENSE"));
    writeFileSync(join(stage, "README.md"), readme());
    writeFileSync(join(stage, "package.json"), JSON.stringify(published(client, dependencies), undefined, 2));
  });
}

function published(client: Manifest, dependencies: Manifest["dependencies"]) {
  return {
    ...client,
    name: "@matrx-relay/client",
    private: undefined,
    sideEffects: false,
    files: ["index.js", "types"],
    exports: { ".": { types: "./types/client/index.d.ts", default: "./index.js" } },
    dependencies,
  };
}

/** For Node, browsers and Workers alike. */
async function bundle(outfile: string, external: string[]): Promise<void> {
  try {
    await build({
      ...{ absWorkingDir: SOURCES, entryPoints: ["./index.ts"], outfile, external },
      ...{ bundle: true, platform: "neutral", format: "esm", target: "es2022", logLevel: "silent" },
      // For Node 20.
      define: { "Promise.withResolvers": "withResolvers" },
      inject: [join(ROOT, "scripts/with-resolvers.ts")],
    });
  } catch (error) {
    throw new Problem(`The client cannot be bundled:\n${messageOf(error)}`);
  } finally {
    await stop();
  }
}

/** The declarations that the entry needs; they name each other by paths within the package. */
async function writeTypes(folder: string): Promise<void> {
  const all = `${folder}.all`;
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const args = [tsc, "-p", join(SOURCES, "tsconfig.pack.json"), "--outDir", all];
  await promisify(execFile)(process.execPath, args).catch((error) => {
    throw new Problem(`The client's types cannot be made:\n${error.stdout}`);
  });
  const needed = new Set(["client/index.ts"]);
  for (const source of needed) {
    const file = source.replace(/\.ts$/, ".d.ts");
    const text = readFileSync(join(all, file), "utf8").replace(SPECIFIER, (_, quote, shared, path) => {
      const target = shared ? join("shared", path) : join(dirname(source), path);
      needed.add(`${target}.ts`);
      const from = relative(dirname(source), `${target}.js`);
      return `${quote}${from.startsWith(".") ? from : `./${from}`}"`;
    });
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  rmSync(all, { recursive: true });
}

/** A file of ours that a declaration imports. */
const SPECIFIER = /((?:from|import) "|import\(")(?:(@matrx\/shared\/)|(?=\.))([^"]+)\.ts"/g;

/** The guide; its links lead to pages that the package has not. */
function readme(): string {
  const guide = readFileSync(join(ROOT, "docs/guides/client.md"), "utf8");
  return guide.replace(/\[([^\]]+)\]\((?!http)[^)]+\)/g, "$1");
}

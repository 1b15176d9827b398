/** The web app as the relay serves it. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import type { Build } from "./fresh-build.ts";
import { ROOT, WEB_BUNDLE } from "./tree.ts";
import { bundleByVite } from "./vite-bundle.ts";

const compress = promisify(brotliCompress);
const COMPRESSED = /\.(?:js|css|svg|html|webmanifest)$/;
/** A smaller file fits into one packet anyway, in bytes. */
const WORTH_IT = 1024;

export const WEB: Build = {
  folder: WEB_BUNDLE,
  entry: "index.html",
  sources: ["web", "shared", "package-lock.json"],
  progress: "Building the web app ...",
  async make(aside) {
    await bundleByVite({ outDir: aside });
    await bundleServiceWorker(aside);
    await compressFiles(aside);
    // Cloudflare compresses by itself.
    writeFileSync(join(aside, ".assetsignore"), "*.br\n.sources-sha256\n.vite\n");
  },
};

/** Its list of files is that of this build, which it is named by. */
async function bundleServiceWorker(folder: string): Promise<void> {
  const { build } = await import("esbuild");
  const files = readdirSync(join(folder, "assets")).filter(
    (name) => !isForeignScript(name) && !isHeavy(name),
  );
  const page = readFileSync(join(folder, "index.html"));
  const release = createHash("sha256").update(page).update(files.join()).digest("hex").slice(0, 16);
  const paths = [...files.map((name) => `/assets/${name}`), "/icon.svg", "/color-scheme.js"];
  await build({
    entryPoints: [join(ROOT, "web/src/service-worker/main.ts")],
    outfile: join(folder, "sw.js"),
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2023",
    define: { PRECACHED: JSON.stringify(paths), RELEASE: JSON.stringify(release) },
  });
}

/** Letters of other scripts are loaded when they are shown. */
function isForeignScript(name: string): boolean {
  return name.endsWith(".woff2") && !/-latin-(?:wght-normal|standard-normal)/.test(name);
}

/** What reads PDF files and edits texts is large, and of no use without a machine that is reached. */
function isHeavy(name: string): boolean {
  return /^(?:pdf-worker|PdfView|EditPane|language-support)-/.test(name);
}

/** For the embedded relay, which compresses nothing: `name.br` beside `name`. */
async function compressFiles(folder: string): Promise<void> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    COMPRESSED.test(name),
  );
  await Promise.all(
    names.map(async (name) => {
      const content = readFileSync(join(folder, name));
      if (content.length < WORTH_IT) return;
      const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
      writeFileSync(join(folder, `${name}.br`), await compress(content, { params }));
    }),
  );
}

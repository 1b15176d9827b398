/** The Worker's bundle. */
import { join, relative } from "node:path";
import type { Build } from "./fresh-build.ts";
import { Problem } from "./problem.ts";
import { BUNDLE, ROOT } from "./tree.ts";
import { wrangler } from "./wrangler.ts";

/** wrangler notes things about its user there, even for a build: not in the home folder, which may be closed. */
const CONFIG = join(ROOT, ".wrangler/config");

export const WORKER: Build = {
  folder: BUNDLE,
  entry: "index.js",
  sources: ["worker", "shared", "wrangler.toml", "package-lock.json"],
  progress: "Building the relay ...",
  async make(aside) {
    const args = ["deploy", "--dry-run", "--outdir", relative(ROOT, aside)];
    const { code, text } = await wrangler(args, { env: { XDG_CONFIG_HOME: CONFIG } });
    if (code !== 0) throw new Problem(`The relay cannot be built:\n${text.trim()}`);
  },
};

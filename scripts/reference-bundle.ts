/** The reference without the app around it, as the local server serves it: the page, and all that it loads. */
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Build } from "./fresh-build.ts";
import { REFERENCE_BUNDLE, ROOT } from "./tree.ts";
import { bundleByVite } from "./vite-bundle.ts";

const PAGE = "reference.html";
const LICENCES = ".licences.json";

/** A build of its own: as a second page of the app's, it would take apart what the app loads first. */
export const REFERENCE: Build = {
  folder: REFERENCE_BUNDLE,
  entry: PAGE,
  sources: ["web", "shared", "package-lock.json"],
  progress: "Building the reference ...",
  async make(aside) {
    await bundleByVite({
      outDir: aside,
      copyPublicDir: false,
      manifest: false,
      license: { fileName: LICENCES },
      rolldownOptions: { input: join(ROOT, "web", PAGE) },
    });
    for (const name of ["icon.svg", "color-scheme.js"])
      cpSync(join(ROOT, "web/public", name), join(aside, name));
  },
};

export interface Licence {
  readonly name: string;
  readonly version: string;
  /** Of SPDX, such as `MIT`. */
  readonly identifier?: string;
  readonly text?: string;
}

/** The licences of the packages that the page is made of. */
export function referenceLicences(): Licence[] {
  return JSON.parse(readFileSync(join(REFERENCE_BUNDLE, LICENCES), "utf8"));
}

/** What the reference by itself is made of: the local server has no other page. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { WEB_BUNDLE } from "./tree.ts";

/** An entry of Vite's manifest. */
interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
  readonly css?: readonly string[];
  readonly assets?: readonly string[];
}

const ENTRY = "reference.html";
/** Copied as they are by the build. */
const OTHERS = ["icon.svg", "color-scheme.js"];

/** Its files in `dist/web`: the page, and all that it loads. */
export function referenceFiles(): string[] {
  const manifest: Readonly<Record<string, Chunk>> = JSON.parse(
    readFileSync(join(WEB_BUNDLE, ".vite/manifest.json"), "utf8"),
  );
  const seen = new Map<string, Chunk>();
  const follow = (key: string) => {
    const chunk = manifest[key];
    if (!chunk || seen.has(key)) return;
    seen.set(key, chunk);
    for (const next of [...(chunk.imports ?? []), ...(chunk.dynamicImports ?? [])]) follow(next);
  };
  follow(ENTRY);
  const loaded = [...seen.values()].flatMap(({ file, css = [], assets = [] }) => [file, ...css, ...assets]);
  return [...new Set([ENTRY, ...OTHERS, ...loaded])];
}

export interface Licence {
  readonly name: string;
  readonly version: string;
  /** Of SPDX, such as `MIT`. */
  readonly identifier?: string;
  readonly text?: string;
}

/** The licences of all packages that the web app is made of. */
export function webLicences(): Licence[] {
  return JSON.parse(readFileSync(join(WEB_BUNDLE, ".vite/licences.json"), "utf8"));
}

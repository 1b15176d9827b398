/** The agent as an npm package: its bundle, the reference page that it serves, and as dependencies only what no bundle can hold. */
import { appendFileSync, cpSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { NOTICES, notice } from "./agent-bundle.ts";
import { packInto } from "./npm-pack.ts";
import { referenceLicences } from "./reference-bundle.ts";
import { AGENT_BUNDLE, REFERENCE_BUNDLE } from "./tree.ts";

/** Makes the tarball in this folder, of `dist/agent` and `dist/reference`. Resolves with its path. Throws Problem. */
export function packAgent(folder: string): Promise<string> {
  return packInto(folder, (stage) => {
    cpSync(AGENT_BUNDLE, stage, { recursive: true, filter: isPublished });
    cpSync(REFERENCE_BUNDLE, join(stage, "web"), { recursive: true, filter: isPublished });
    addNoticesOfPage(join(stage, NOTICES));
  });
}

/** The build's own notes are not. */
function isPublished(file: string): boolean {
  return !basename(file).startsWith(".");
}

/** Some packages are in both. */
function addNoticesOfPage(file: string): void {
  const those = readFileSync(file, "utf8");
  for (const { name, version, identifier, text = "" } of referenceLicences()) {
    const more = notice(`${name} ${version} (${identifier})`, [text]);
    if (!those.includes(more)) appendFileSync(file, `\n${more}`);
  }
}

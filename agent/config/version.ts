/** The agent's version, from its own package. */
import { readFileSync } from "node:fs";
import * as z from "zod";

const packageFile = [
  new URL("package.json", import.meta.url),
  new URL("../../package.json", import.meta.url),
];

export const AGENT_VERSION = readVersion();

/** Beside the sources, or one above a bundle in `dist/`. */
function readVersion(): string {
  for (const file of packageFile) {
    try {
      return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, "utf8"))).version;
    } catch {}
  }
  return "0.0.0";
}

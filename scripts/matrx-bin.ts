/** The agent's program, which is also the command line. Whoever starts it imports this file: `npm run test:changed` relies on it. */
import { join } from "node:path";
import { AGENT_BUNDLE, ROOT } from "./tree.ts";

/** As it is published, from `npm run build`. */
export const MATRX_BIN = join(AGENT_BUNDLE, "bin/matrx.js");

/** From its sources: what `npx matrx` starts in a clone. */
export const MATRX_SOURCES = join(ROOT, "agent/bin/matrx.js");

/** Where things are in the repository. */
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "..");

/** The bundled Worker, as relay.capnp embeds it. */
export const BUNDLE = join(ROOT, "dist/worker");

/** The web app, as the relay serves it. */
export const WEB_BUNDLE = join(ROOT, "dist/web");

/** The reference, as the local server serves it. */
export const REFERENCE_BUNDLE = join(ROOT, "dist/reference");

/** What `npm run pack` makes. */
export const DIST = join(ROOT, "dist");

/** The agent and its command line, as they are published. */
export const AGENT_BUNDLE = join(ROOT, "dist/agent");

/** Keys and data of `npm start`, unless it is told otherwise; secrets of `npm run deploy`. */
export const DEFAULT_DATA = join(ROOT, ".matrx");

/** Packages of others that `npm run test:mcp` tries ours with: where `npm ci` clears up. */
export const STRANGERS = join(ROOT, "node_modules/.cache/strangers");

/** Lighthouse, for `npm run bench web`, in the same way. */
export const LIGHTHOUSE = join(ROOT, "node_modules/.cache/lighthouse");

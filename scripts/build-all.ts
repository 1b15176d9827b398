/** All that the relay is built of. */
import { buildIfChanged } from "./fresh-build.ts";
import { WEB } from "./web-bundle.ts";
import { WORKER } from "./worker-bundle.ts";

/** Builds what changed. `say` gets progress lines. */
export async function buildAll(say: (line: string) => void): Promise<void> {
  // The Worker's bundler wants the folder of its assets.
  await buildIfChanged(WEB, say);
  await buildIfChanged(WORKER, say);
}

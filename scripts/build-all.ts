/** The relay, the agent, and the local server's page. */
import { AGENT } from "./agent-bundle.ts";
import { buildIfChanged } from "./fresh-build.ts";
import { REFERENCE } from "./reference-bundle.ts";
import { WEB } from "./web-bundle.ts";
import { WORKER } from "./worker-bundle.ts";

/** Builds what changed. `say` gets progress lines. */
export async function buildAll(say: (line: string) => void): Promise<void> {
  // The Worker's bundler wants the folder of its assets.
  await buildIfChanged(WEB, say);
  await buildIfChanged(WORKER, say);
  await buildIfChanged(AGENT, say);
  await buildIfChanged(REFERENCE, say);
}

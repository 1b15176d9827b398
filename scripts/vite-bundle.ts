/** What Vite builds of `web/`. */
import { join } from "node:path";
import type { BuildEnvironmentOptions } from "vite";
import { Problem } from "./problem.ts";
import { ROOT } from "./tree.ts";

/** Builds by `web/vite.config.ts`, with these options on top. Throws Problem. Vite takes a second to load, so only those who build load it. */
export async function bundleByVite(options: BuildEnvironmentOptions): Promise<void> {
  const own = { ...process.env };
  const { build } = await import("vite");
  // Vite takes it for the mode to build for, and React's own development build is three times as large.
  process.env.NODE_ENV = "production";
  const root = join(ROOT, "web");
  try {
    await build({
      root,
      configFile: join(root, "vite.config.ts"),
      configLoader: "native",
      logLevel: "error",
      build: { emptyOutDir: true, ...options },
    });
  } catch (error) {
    throw new Problem(`The web app cannot be built:\n${error instanceof Error ? error.message : error}`);
  } finally {
    restoreEnvironment(own);
  }
}

/** `npm start` gives its environment to the agent, and so to the person's own commands, in which npm leaves out packages for development. */
function restoreEnvironment(own: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in own)) delete process.env[name];
  Object.assign(process.env, own);
}

/** Our relay with the suite's fixture behind `/mcp`, as a bundle and a process of its own. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { ROOT } from "../../../scripts/tree.ts";
import { makeFolder, removeFolder } from "../../helpers/folder.ts";
import { startRelay, type TestRelay } from "../../helpers/relay.ts";

/** Starts it for callers at `publicUrl`. */
export async function startFixtureRelay(publicUrl: string): Promise<TestRelay> {
  const folder = makeFolder();
  try {
    const relay = await startRelay({ publicUrl, config: await bundle(folder) });
    const stop = async () => {
      await relay.stop();
      removeFolder(folder);
    };
    return { ...relay, stop };
  } catch (error) {
    removeFolder(folder);
    throw error;
  }
}

/** The relay's own configuration, beside another bundle. */
async function bundle(folder: string): Promise<string> {
  await build({
    entryPoints: [join(import.meta.dirname, "relay.js")],
    outfile: join(folder, "dist/worker/index.js"),
    ...{ bundle: true, format: "esm", target: "esnext", logLevel: "error" },
    conditions: ["workerd", "worker"],
    external: ["cloudflare:*"],
    absWorkingDir: ROOT,
  });
  const config = join(folder, "relay.capnp");
  copyFileSync(join(ROOT, "relay.capnp"), config);
  return config;
}

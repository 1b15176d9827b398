/** `npm run pack`: the agent as one npm package, which runs without this clone. `npm run pack -- client`: the client. */
import { relative } from "node:path";
import { AGENT } from "./agent-bundle.ts";
import { packAgent } from "./agent-package.ts";
import { packClient } from "./client-package.ts";
import { buildIfChanged } from "./fresh-build.ts";
import { Problem, reportAndExit } from "./problem.ts";
import { REFERENCE } from "./reference-bundle.ts";
import { DIST } from "./tree.ts";

const PACKAGES = new Map([
  ["client", () => packClient(DIST)],
  [
    "agent",
    async () => {
      await buildIfChanged(AGENT, console.error);
      await buildIfChanged(REFERENCE, console.error);
      return await packAgent(DIST);
    },
  ],
]);

async function pack(name = "agent"): Promise<string> {
  const made = PACKAGES.get(name);
  if (!made) throw new Problem(`There is no package "${name}". Choose agent or client.`);
  return await made();
}

const tarball = await pack(process.argv[2]).catch(reportAndExit);
console.log(relative(process.cwd(), tarball));

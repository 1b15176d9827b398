/** `npm run pack`: the agent as one npm package, which runs without this clone. */
import { relative } from "node:path";
import { AGENT } from "./agent-bundle.ts";
import { packAgent } from "./agent-package.ts";
import { buildIfChanged } from "./fresh-build.ts";
import { reportAndExit } from "./problem.ts";
import { REFERENCE } from "./reference-bundle.ts";
import { DIST } from "./tree.ts";

const tarball = await buildIfChanged(AGENT, console.error)
  .then(() => buildIfChanged(REFERENCE, console.error))
  .then(() => packAgent(DIST))
  .catch(reportAndExit);
console.log(relative(process.cwd(), tarball));

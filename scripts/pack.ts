/** `npm run pack`: the agent as one npm package, which runs without this clone. */
import { relative } from "node:path";
import { packAgent } from "./agent-package.ts";
import { reportAndExit } from "./problem.ts";
import { DIST } from "./tree.ts";

const tarball = await packAgent(DIST).catch(reportAndExit);
console.log(relative(process.cwd(), tarball));

/** `npm run build`: the web app into dist/web/, the Worker into dist/worker/, the agent into dist/agent/ and the reference into dist/reference/, unless nothing changed since the last time. */
import { buildAll } from "./build-all.ts";
import { reportAndExit } from "./problem.ts";

await buildAll(console.error).catch(reportAndExit);

/** `npm run build`: the web app into dist/web/ and the Worker into dist/worker/, unless nothing changed since the last time. */
import { buildAll } from "./build-all.ts";
import { reportAndExit } from "./problem.ts";

await buildAll(console.error).catch(reportAndExit);

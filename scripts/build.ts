/** `npm run build`: bundles the Worker into dist/worker/, unless nothing changed since the last time. */
import { reportAndExit } from "./problem.ts";
import { buildWorker } from "./worker-bundle.ts";

await buildWorker(console.error).catch(reportAndExit);

/**
 * What parts of the agent ask for only when they need it, and what is a file of its own in the package. An agent loads it at
 * its start: weeks later its package may have been replaced.
 */
import { loadLibrary } from "./platform/darwin/meter.ts";
import { loadStarter } from "./platform/run-program.ts";

await Promise.all([
  import("@matrx/shared/openapi/document.ts"),
  import("chokidar"),
  import("jose"),
  loadStarter(),
  process.platform === "darwin" && loadLibrary(),
]);

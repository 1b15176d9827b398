/**
 * What parts of the agent ask for only when they need it, and what is a file of its own in the package. An agent loads it at
 * its start: weeks later its package may have been replaced.
 */
await Promise.all([
  import("@matrx/shared/openapi/document.ts"),
  import("chokidar"),
  import("execa"),
  import("jose"),
  import("systeminformation"),
]);

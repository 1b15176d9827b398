import type { ProtectedPaths } from "../../agent/paths/protected.ts";

/** Closed paths that stay the same. */
export function closedPaths(...closed: readonly string[]): () => ProtectedPaths {
  return () => ({ closed, program: [] });
}

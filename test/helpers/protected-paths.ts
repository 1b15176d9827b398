import type { ProtectedPaths } from "../../agent/fs/protected-paths.ts";

/** Closed paths that stay the same. */
export function closedPaths(...closed: readonly string[]): () => ProtectedPaths {
  return () => ({ closed, program: [] });
}

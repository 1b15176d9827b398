/** Comparing canonical POSIX paths. */

/** Whether a path is a folder or lies in it. */
export function isIn(path: string, folder: string): boolean {
  return path === folder || isBelow(path, folder);
}

/** Whether a path lies in a folder, and is not the folder itself. */
export function isBelow(path: string, folder: string): boolean {
  if (folder === "/") return path !== "/";
  return path.length > folder.length && path.startsWith(folder) && path[folder.length] === "/";
}

/** The same paths without those that lie in others, each once, in order. */
export function distinctRoots(paths: readonly string[]): string[] {
  const roots = new Set<string>();
  for (const path of [...paths].sort()) {
    let above = path;
    while (above !== "/" && !roots.has(above)) above = above.slice(0, Math.max(1, above.lastIndexOf("/")));
    if (!roots.has(above)) roots.add(path);
  }
  return [...roots];
}

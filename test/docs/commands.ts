/** The commands that a page tells its reader to type: indented lines outside of fenced blocks. */
export function commandsOf(markdown: string): string[] {
  return markdown
    .replace(/^```[\s\S]*?^```$/gm, "")
    .split("\n")
    .map((line) => line.match(/^ {4}((?:MATRX_\w+=\S+ )*(?:npm|npx|curl|sed) .*?)(?: {2,}#.*)?$/)?.[1])
    .filter((command) => command !== undefined);
}

/**
 * How this program starts bubblewrap itself. One that dies with its parent while it starts can leave its own child behind,
 * which waits for its word for ever. So its parent is a shell, which lives on until the command has ended.
 */
export function outliving(command: readonly string[]): readonly string[] {
  return ["/bin/sh", "-c", '"$@"; exit $?', "matrx-start", ...command];
}

/** Puts the paths of entries into the person's clipboard, one a line. */
import { say, sayProblem } from "../../ui/notices.ts";
import type { PlacedAll } from "./dialog.ts";
import { joined } from "./paths.ts";

export function copyPaths({ folder, entries }: PlacedAll): void {
  const paths = entries.map(({ name }) => joined(folder, name));
  navigator.clipboard.writeText(paths.join("\n")).then(
    () => say(paths.length === 1 ? "The path was copied." : `${paths.length} paths were copied.`),
    () => sayProblem(new Error("The browser did not allow copying.")),
  );
}

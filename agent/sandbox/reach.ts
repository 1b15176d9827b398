/** What a person is told of a sandbox: what commands in it can reach. */
import type { CommandPreview } from "../core/preview.ts";
import { isIn } from "./paths.ts";
import type { Confinement } from "./sandbox.ts";

/** The granted folders; those that every program needs are left out. A folder that is writable in part counts as writable. */
export function reachOf({ rules }: Confinement): NonNullable<CommandPreview["sandbox"]> {
  const writable = rules.granted.filter((folder) => rules.writable.some((path) => isIn(path, folder)));
  return { readable: rules.granted, writable, network: rules.network };
}

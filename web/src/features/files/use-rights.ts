/** What a person may do with a machine's files: the rest is not offered. */
import { useMissing } from "../../machine/use-lack.ts";

/** Each by the tools that it takes. */
const TOOLS = {
  makeFolder: ["create_directory"],
  upload: ["Upload"],
  edit: ["Write"],
  move: ["Move"],
  remove: ["Delete"],
  openTerminal: ["TerminalCreate", "TerminalAttach"],
} as const satisfies Record<string, readonly string[]>;

export type Right = keyof typeof TOOLS;
export type Rights = Readonly<Record<Right, boolean>>;

/** While it is not known what the machine offers, all is. */
export function useRights(device: string): Rights {
  const isMissing = useMissing(device);
  const has = (right: Right) => !TOOLS[right].some(isMissing);
  return {
    makeFolder: has("makeFolder"),
    upload: has("upload"),
    edit: has("edit"),
    move: has("move"),
    remove: has("remove"),
    openTerminal: has("openTerminal"),
  };
}

/** The trash of macOS: a folder at home, and one for each user on other volumes. Written from documents, not run. */
import type { TrashWay } from "../trash.ts";

export const darwinTrash: TrashWay = {
  by: "folder",
  folders: ({ home, user, top }) => [
    { base: home, names: [".Trash"] },
    { base: top, names: [".Trashes", String(user)] },
  ],
};

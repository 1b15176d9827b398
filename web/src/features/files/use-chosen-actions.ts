/** What can be done with all entries that are chosen, in the order of the menu and of the bar. */
import { IconArrowsMove, IconCopy, IconDownload, IconTrash } from "@tabler/icons-react";
import { deleteEntries } from "./actions.ts";
import { copyPaths } from "./copy-paths.ts";
import { openDialog, type PlacedAll } from "./dialog.ts";
import { downloadAll } from "./download-all.ts";
import type { EntryAction } from "./use-entry-actions.ts";
import { useRights } from "./use-rights.ts";

export function useChosenActions(placed: PlacedAll): readonly EntryAction[] {
  const rights = useRights(placed.device);
  const actions: (EntryAction | false)[] = [
    { label: "Download", icon: IconDownload, act: () => void downloadAll(placed) },
    { label: "Copy paths", icon: IconCopy, act: () => copyPaths(placed) },
    rights.move && {
      label: "Move to …",
      icon: IconArrowsMove,
      act: () => openDialog({ kind: "move", ...placed }),
    },
    rights.remove && { label: "Delete", icon: IconTrash, isRed: true, act: () => void deleteEntries(placed) },
  ];
  return actions.filter((one) => one !== false);
}

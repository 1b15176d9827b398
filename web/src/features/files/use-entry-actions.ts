/** What can be done with an entry, in the order of the menu. */
import {
  IconArrowsMove,
  IconCloudUpload,
  IconCopy,
  IconDownload,
  IconEdit,
  IconFolderOpen,
  IconLink,
  IconPencil,
  IconTerminal2,
  IconTrash,
} from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useDevice } from "../../data/devices.ts";
import { sayProblem } from "../../ui/notices.ts";
import { wishTerminal } from "../terminal/wish.ts";
import { isShown } from "../workspace/saved.ts";
import { deleteEntries } from "./actions.ts";
import { sendToCloud } from "./cloud.ts";
import { copyPaths } from "./copy-paths.ts";
import { openDialog, type Placed } from "./dialog.ts";
import { download } from "./download.ts";
import { isFolder, isNamed, isReadable } from "./entries.ts";
import { kindOf } from "./kinds.ts";
import { joined, splatOf } from "./paths.ts";
import { useOpening } from "./use-opening.ts";
import { useRights } from "./use-rights.ts";

export interface EntryAction {
  readonly label: string;
  readonly icon: typeof IconCopy;
  readonly isRed?: true;
  readonly act: () => void;
}

/** Larger files are not edited here, in bytes. */
export const MOST_EDITED = 1024 * 1024;

export function useEntryActions(placed: Placed): readonly EntryAction[] {
  const { device, folder, entry } = placed;
  const open = useOpening(device, folder);
  const navigate = useNavigate();
  // Links and the cloud store are the account's, not a guest's.
  const isOwn = useDevice(device)?.shared_by === undefined;
  const rights = useRights(device);
  const path = joined(folder, entry.name);
  const hasBytes = isFolder(entry) || isReadable(entry);
  const edit = () =>
    void navigate({
      to: "/d/$device/files/$",
      params: { device, _splat: splatOf(folder) },
      search: { file: entry.name, edit: true },
    });
  const { terminal } = useSearch({ from: "/d/$device/files/$" });
  const inTerminal = () => {
    wishTerminal(device, isFolder(entry) ? path : folder);
    // Beside the files, they take it up themselves.
    if (!isShown(terminal)) void navigate({ to: "/d/$device/terminal", params: { device } });
  };
  const actions: (EntryAction | false)[] = [
    { label: "Open", icon: IconFolderOpen, act: () => open(entry) },
    rights.edit && mayEdit(placed) && { label: "Edit", icon: IconEdit, act: edit },
    hasBytes && {
      label: isFolder(entry) ? "Download as zip" : "Download",
      icon: IconDownload,
      act: () => void download(placed).catch(sayProblem),
    },
    rights.openTerminal && { label: "Open in terminal", icon: IconTerminal2, act: inTerminal },
    { label: "Copy path", icon: IconCopy, act: () => copyPaths({ device, folder, entries: [entry] }) },
    rights.move && {
      label: "Rename …",
      icon: IconPencil,
      act: () => openDialog({ kind: "rename", ...placed }),
    },
    rights.move && {
      label: "Move to …",
      icon: IconArrowsMove,
      act: () => openDialog({ kind: "move", device, folder, entries: [entry] }),
    },
    hasBytes &&
      isOwn && {
        label: "Share a link …",
        icon: IconLink,
        act: () => openDialog({ kind: "share", ...placed }),
      },
    hasBytes &&
      isOwn && {
        label: "Send to the cloud store",
        icon: IconCloudUpload,
        act: () => void sendToCloud(placed),
      },
    rights.remove && {
      label: "Delete",
      icon: IconTrash,
      isRed: true,
      act: () => void deleteEntries({ device, folder, entries: [entry] }),
    },
  ];
  // No tool knows a file by a name that is no UTF-8.
  if (!isNamed(entry)) return actions.filter((one) => one !== false).slice(0, 1);
  return actions.filter((one) => one !== false);
}

/** It may be text, and is small enough. */
export function mayEdit({ entry }: Pick<Placed, "entry">): boolean {
  const kind = kindOf(entry.name);
  return isReadable(entry) && (entry.size ?? 0) <= MOST_EDITED && (kind === "unknown" || kind === "markdown");
}

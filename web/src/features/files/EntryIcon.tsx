/** A picture for what an entry is; screen readers are told only that it is a folder. */
import {
  IconFile,
  IconFileText,
  IconFileTypePdf,
  IconFileZip,
  IconFolderFilled,
  IconMovie,
  IconMusic,
  IconPhoto,
} from "@tabler/icons-react";
import classes from "./EntryGrid.module.css";
import { type Entry, isFolder } from "./entries.ts";
import { type Kind, kindOf } from "./kinds.ts";

const ICONS: Readonly<Record<Kind, typeof IconFile>> = {
  markdown: IconFileText,
  image: IconPhoto,
  audio: IconMusic,
  video: IconMovie,
  pdf: IconFileTypePdf,
  archive: IconFileZip,
  unknown: IconFile,
};

export function EntryIcon({ entry }: { entry: Entry }) {
  if (isFolder(entry))
    return <IconFolderFilled size={18} className={classes.icon} data-kind="folder" aria-label="Folder" />;
  const kind = kindOf(entry.name);
  const Icon = ICONS[kind];
  return <Icon size={18} className={classes.icon} data-kind={kind} aria-hidden />;
}

/** What can be done with the folder as a whole. */
import { ActionIcon, Button, TextInput } from "@mantine/core";
import { IconEye, IconEyeOff, IconFolderPlus, IconRefresh, IconSearch } from "@tabler/icons-react";
import { openDialog } from "./dialog.ts";
import classes from "./Files.module.css";
import { UploadButton } from "./uploads/UploadButton.tsx";
import type { Rights } from "./use-rights.ts";
import { changeView, useView } from "./view.ts";

interface Props {
  readonly device: string;
  readonly path: string;
  readonly text: string;
  readonly filter: (text: string) => void;
  readonly refresh: () => void;
  readonly isReachable: boolean;
  readonly rights: Rights;
}

export function ToolBar({ device, path, text, filter, refresh, isReachable, rights }: Props) {
  const showHidden = useView((view) => view.showHidden);
  const Eye = showHidden ? IconEye : IconEyeOff;
  return (
    <div className={classes.toolBar}>
      <TextInput
        type="search"
        className={classes.filter}
        aria-label="Filter this folder"
        placeholder="Filter"
        leftSection={<IconSearch size={16} aria-hidden />}
        value={text}
        onChange={({ currentTarget: { value } }) => filter(value)}
      />
      <ActionIcon
        variant="default"
        size={36}
        aria-label="Hidden files"
        title="Hidden files"
        aria-pressed={showHidden}
        onClick={() => changeView({ showHidden: !showHidden })}
      >
        <Eye size={18} aria-hidden />
      </ActionIcon>
      <ActionIcon
        variant="default"
        size={36}
        aria-label="Refresh"
        title="Refresh"
        disabled={!isReachable}
        onClick={refresh}
      >
        <IconRefresh size={18} aria-hidden />
      </ActionIcon>
      {rights.makeFolder && (
        <Button
          className={classes.newFolder}
          title="New folder"
          variant="default"
          disabled={!isReachable}
          leftSection={<IconFolderPlus size={16} aria-hidden />}
          onClick={() => openDialog({ kind: "folder", device, folder: path })}
        >
          New folder
        </Button>
      )}
      {rights.upload && <UploadButton device={device} folder={path} isReachable={isReachable} />}
    </div>
  );
}

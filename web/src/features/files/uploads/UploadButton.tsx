/** Chooses files, or a folder, to be uploaded. */
import { Button, Menu } from "@mantine/core";
import { IconFiles, IconFolder, IconUpload } from "@tabler/icons-react";
import { type ChangeEvent, useRef } from "react";
import { pickedOf } from "./dropped.ts";
import { put } from "./put.ts";

interface Props {
  readonly device: string;
  readonly folder: string;
  readonly isReachable: boolean;
}

export function UploadButton({ device, folder, isReachable }: Props) {
  const files = useRef<HTMLInputElement>(null);
  const tree = useRef<HTMLInputElement>(null);
  const take = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    put(device, folder, pickedOf(currentTarget.files ?? new DataTransfer().files));
    // The same ones can be chosen again.
    currentTarget.value = "";
  };
  return (
    <>
      <input ref={files} type="file" multiple hidden aria-label="Files to upload" onChange={take} />
      <input
        ref={(input) => {
          tree.current = input;
          input?.setAttribute("webkitdirectory", "");
        }}
        type="file"
        hidden
        aria-label="Folder to upload"
        onChange={take}
      />
      <Menu
        position="bottom-end"
        transitionProps={{ duration: 0 }}
        withinPortal={false}
        withInitialFocusPlaceholder={false}
      >
        <Menu.Target>
          <Button disabled={!isReachable} leftSection={<IconUpload size={16} aria-hidden />}>
            Upload
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconFiles size={16} aria-hidden />} onClick={() => files.current?.click()}>
            Files …
          </Menu.Item>
          <Menu.Item leftSection={<IconFolder size={16} aria-hidden />} onClick={() => tree.current?.click()}>
            A folder …
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

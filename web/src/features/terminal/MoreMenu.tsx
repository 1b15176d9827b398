/** What can be done with the tab and the terminal that are shown: all that fingers have no key for. */
import { ActionIcon, Menu } from "@mantine/core";
import { IconDots, IconPencil, IconPlayerEject, IconSettings, IconX } from "@tabler/icons-react";
import type { Command } from "./keys.ts";

/** What is over the terminals. */
export type Panel = "list" | "settings" | "text" | "rename";

interface Props {
  readonly run: (command: Command) => void;
  readonly open: (panel: Panel) => void;
}

export function MoreMenu({ run, open }: Props) {
  return (
    <Menu
      position="bottom-end"
      withinPortal={false}
      withInitialFocusPlaceholder={false}
      transitionProps={{ duration: 0 }}
      menuItemTabIndex={0}
      trapFocus
    >
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={34} aria-label="More" title="More">
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown aria-label="More">
        <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={() => run("rename")}>
          Rename the tab …
        </Menu.Item>
        <Menu.Item leftSection={<IconPlayerEject size={16} aria-hidden />} onClick={() => run("detach")}>
          Leave running
        </Menu.Item>
        <Menu.Item leftSection={<IconX size={16} aria-hidden />} onClick={() => run("close")}>
          Close
        </Menu.Item>
        <Menu.Item leftSection={<IconSettings size={16} aria-hidden />} onClick={() => open("settings")}>
          Settings and keys
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

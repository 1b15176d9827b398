/** Shows the terminals beside the files, moves them, and takes them away. */
import { ActionIcon, Button } from "@mantine/core";
import { IconLayoutBottombar, IconLayoutSidebarRight, IconTerminal2 } from "@tabler/icons-react";
import type { FilesWorkspace } from "./use-workspace.ts";
import classes from "./Workspace.module.css";

export function TerminalControls({ workspace }: { workspace: FilesWorkspace }) {
  const { isOpen, side, hasChoice } = workspace;
  const isRight = side === "right";
  const Other = isRight ? IconLayoutBottombar : IconLayoutSidebarRight;
  const other = isRight ? "Terminals below the files" : "Terminals right of the files";
  return (
    <div className={classes.controls}>
      <Button
        className={classes.toggle}
        variant={isOpen ? "light" : "default"}
        leftSection={<IconTerminal2 size={16} aria-hidden />}
        aria-pressed={isOpen}
        aria-keyshortcuts="Alt+Shift+F"
        title="Alt Shift F"
        onClick={() => (isOpen ? workspace.close() : workspace.open())}
      >
        Terminal
      </Button>
      {isOpen && hasChoice && (
        <ActionIcon
          variant="default"
          size={36}
          aria-label={other}
          title={other}
          onClick={() => workspace.open(isRight ? "below" : "right")}
        >
          <Other size={18} aria-hidden />
        </ActionIcon>
      )}
    </div>
  );
}

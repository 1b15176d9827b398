/** What was moved to the trash last, and the way back. */
import { CloseButton } from "@mantine/core";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { say } from "../../ui/notices.ts";
import { nameInText, visibleLine } from "../../ui/visible-text.ts";
import { restore } from "./actions.ts";
import classes from "./Files.module.css";
import { forgetUndo, useUndo } from "./undo.ts";

export function UndoBar({ device }: { device: string }) {
  const deleted = useUndo((state) => state.deleted);
  if (deleted?.device !== device) return null;
  const undo = async () => {
    await restore(device, deleted.trash, deleted.path);
    forgetUndo();
    say(`${nameInText(deleted.name)} is back.`);
  };
  return (
    <div className={classes.bar} role="status">
      <span className={classes.barText}>
        <bdi>{visibleLine(deleted.name)}</bdi> is in the trash of the machine.
      </span>
      <ActionButton size="xs" variant="default" work={undo}>
        Put it back
      </ActionButton>
      <CloseButton aria-label="Close" onClick={forgetUndo} />
    </div>
  );
}

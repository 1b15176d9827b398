/** What was moved to the trash last, and the way back. */
import { CloseButton } from "@mantine/core";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { say } from "../../ui/notices.ts";
import { restoreAll } from "./actions.ts";
import classes from "./Files.module.css";
import { inWords } from "./several.ts";
import { forgetUndo, useUndo } from "./undo.ts";
import { useRights } from "./use-rights.ts";

export function UndoBar({ device }: { device: string }) {
  const deleted = useUndo((state) => state.deleted);
  const { move } = useRights(device);
  if (deleted[0]?.device !== device) return null;
  const areMany = deleted.length > 1;
  const undo = async () => {
    await restoreAll(deleted);
    say(`${inWords(deleted)} ${areMany ? "are" : "is"} back.`);
  };
  return (
    <div className={classes.bar} role="status">
      <span className={classes.barText}>
        <bdi>{inWords(deleted)}</bdi> {areMany ? "are" : "is"} in the trash of the machine.
      </span>
      {move && (
        <ActionButton size="xs" variant="default" work={undo}>
          {areMany ? "Put them back" : "Put it back"}
        </ActionButton>
      )}
      <CloseButton aria-label="Close" onClick={forgetUndo} />
    </div>
  );
}

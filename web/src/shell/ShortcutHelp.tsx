/** The shortcuts over whatever page is open. */
import "../ui/mantine-rest.css";
import { Modal } from "@mantine/core";
import { useReturnedFocus } from "../ui/returned-focus.ts";
import { ShortcutList } from "./ShortcutList.tsx";
import { closeHelp } from "./shortcuts.ts";

export function ShortcutHelp() {
  useReturnedFocus(true);
  return (
    <Modal opened onClose={closeHelp} title="Shortcuts" transitionProps={{ duration: 0 }}>
      <ShortcutList />
    </Modal>
  );
}

/** The keyboard's shortcuts, and a way to turn them off. */
import { Stack, Switch } from "@mantine/core";
import { ShortcutList } from "../../shell/ShortcutList.tsx";
import { turnShortcuts, useShortcutState } from "../../shell/shortcuts.ts";
import { Panel } from "../../ui/Panel.tsx";

export function ShortcutsPart() {
  const areOn = useShortcutState((state) => state.areOn);
  return (
    <Stack gap="md">
      <Panel title="Keys" about="They work anywhere but in fields, terminals and editors.">
        <ShortcutList />
      </Panel>
      <Panel>
        <Switch
          label="Shortcuts of plain keys"
          description="Turn them off if keys are pressed by mistake, for instance by speech input. Ctrl K, on a Mac ⌘K, stays."
          checked={areOn}
          onChange={(event) => turnShortcuts(event.currentTarget.checked)}
        />
      </Panel>
    </Stack>
  );
}

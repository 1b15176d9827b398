/** How terminals look here, and the page's keys in them. */
import { Button, Group, Kbd, Modal, NativeSelect, Switch, Text } from "@mantine/core";
import { KEYS } from "./keys.ts";
import { FONT_SIZES, growFont, prefer, SCROLLBACKS, usePreferences } from "./preferences.ts";
import classes from "./Terminal.module.css";

export function Settings({ close }: { close: () => void }) {
  const { fontSize, scrollback, isReadOut } = usePreferences();
  return (
    <Modal opened onClose={close} title="Terminal settings" transitionProps={{ duration: 0 }}>
      <div className={classes.settings}>
        <fieldset className={classes.sizes}>
          <legend>Letters</legend>
          <Group gap="xs">
            <Button
              size="xs"
              variant="default"
              disabled={fontSize <= FONT_SIZES.least}
              onClick={() => growFont(-1)}
            >
              Smaller
            </Button>
            <Text size="sm" role="status">
              {fontSize} pixels
            </Text>
            <Button
              size="xs"
              variant="default"
              disabled={fontSize >= FONT_SIZES.most}
              onClick={() => growFont(1)}
            >
              Larger
            </Button>
          </Group>
        </fieldset>
        <NativeSelect
          label="Lines that can be scrolled back to"
          description="More of them take more memory, in this browser alone."
          value={String(scrollback)}
          data={SCROLLBACKS.map((lines) => ({ value: String(lines), label: lines.toLocaleString("en") }))}
          onChange={({ currentTarget: { value } }) => prefer({ scrollback: Number(value) })}
        />
        <Switch
          label="For screen readers"
          description="What is written is read out, and can be gone through line by line."
          checked={isReadOut}
          onChange={({ currentTarget: { checked } }) => prefer({ isReadOut: checked })}
        />
        <h3 className={classes.keysTitle}>Keys</h3>
        <dl className={classes.keyList}>
          {KEYS.map(({ command, label, shown }) => (
            <div key={command}>
              <dt>{label}</dt>
              <dd>
                {shown.map((key) => (
                  <Kbd key={key} size="xs">
                    {key}
                  </Kbd>
                ))}
              </dd>
            </div>
          ))}
        </dl>
        <Text size="xs" c="dimmed">
          Ctrl F searches too, except while a program has all of the screen. All other keys belong to the
          program in the terminal, Tab too.
        </Text>
      </div>
    </Modal>
  );
}

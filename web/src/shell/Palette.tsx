/** The command palette: every place of the app, by a few letters of its name. */
import "../ui/mantine-rest.css";
import { Box, Modal, NavLink, Text, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useMachines } from "../data/devices.ts";
import { useReturnedFocus } from "../ui/returned-focus.ts";
import { nameInText } from "../ui/visible-text.ts";
import classes from "./Palette.module.css";
import { closePalette } from "./palette.ts";
import { ADD_PLACE, DEVICE_PLACES, PLACES, REFERENCE_PLACE } from "./places.ts";
import { useActiveOption } from "./use-active-option.ts";

export function Palette() {
  useReturnedFocus(true);
  const [text, setText] = useState("");
  const navigate = useNavigate();
  const devices = useMachines();
  const commands = [
    ...[...PLACES, ADD_PLACE, REFERENCE_PLACE].map(({ to, label, icon }) => ({
      key: to,
      label,
      icon,
      go: () => navigate({ to }),
    })),
    ...devices.flatMap(({ id, name }) =>
      DEVICE_PLACES.map(({ to, label, icon }) => ({
        key: `${id}${to}`,
        label: `${nameInText(name)}: ${label}`,
        icon,
        go: () => navigate({ to, params: { device: id } }),
      })),
    ),
  ];
  const words = text.toLowerCase().split(/\s+/);
  const found = commands.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)));
  const open = ({ go }: (typeof commands)[number]) => {
    closePalette();
    void go();
  };
  const { active, idOf, reset, field, list } = useActiveOption(found, open);
  return (
    <Modal
      opened
      onClose={closePalette}
      withCloseButton={false}
      padding="xs"
      transitionProps={{ duration: 0 }}
      title="Go to"
    >
      <TextInput
        data-autofocus
        autoFocus
        aria-label="Search or run"
        leftSection={<IconSearch size={16} aria-hidden />}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          reset();
        }}
        {...field}
      />
      {found.length === 0 ? (
        <Text size="sm" c="dimmed" p="sm" role="status">
          No place has that in its name.
        </Text>
      ) : (
        // The field keeps the focus when the list is scrolled with the mouse.
        <Box
          {...list}
          aria-label="Places"
          className={classes.list}
          onMouseDown={(event) => event.preventDefault()}
        >
          {found.map((command) => (
            <NavLink
              key={command.key}
              id={idOf(command)}
              component="div"
              role="option"
              aria-selected={command === active}
              active={command === active}
              label={command.label}
              leftSection={<command.icon size={16} aria-hidden />}
              onClick={() => open(command)}
            />
          ))}
        </Box>
      )}
    </Modal>
  );
}

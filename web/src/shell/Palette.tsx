/** The command palette: every place of the app, by a few letters of its name. */
import "../app/mantine-rest.ts";
import { Modal, NavLink, ScrollArea, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useMachines } from "../relay/devices.ts";
import { nameInText } from "../ui/visible-text.ts";
import { closePalette } from "./palette.ts";
import { ADD_PLACE, DEVICE_PLACES, PLACES, REFERENCE_PLACE } from "./places.ts";

export function Palette() {
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
        key: `${id} ${to}`,
        label: `${nameInText(name)}: ${label}`,
        icon,
        go: () => navigate({ to, params: { device: id } }),
      })),
    ),
  ];
  const words = text.toLowerCase().split(/\s+/);
  const found = commands.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)));
  const run = (go: () => Promise<void>) => {
    closePalette();
    void go();
  };
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
        aria-label="Search or run"
        leftSection={<IconSearch size={16} aria-hidden />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          const [first] = found;
          if (event.key === "Enter" && first) run(first.go);
        }}
      />
      <ScrollArea.Autosize mah={360} mt="xs">
        {found.map(({ key, label, icon: Icon, go }) => (
          <NavLink
            key={key}
            component="button"
            label={label}
            leftSection={<Icon size={16} aria-hidden />}
            onClick={() => run(go)}
          />
        ))}
      </ScrollArea.Autosize>
    </Modal>
  );
}

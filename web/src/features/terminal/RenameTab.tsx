/** A name of one's own for a tab. */
import { Button, Group, Modal, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { shortLine } from "../../ui/visible-text.ts";
import { activeOf, MOST_TITLE, type Tab } from "./layout.ts";

interface Props {
  readonly tab: Tab;
  readonly rename: (title: string) => void;
  readonly close: () => void;
}

export function RenameTab({ tab, rename, close }: Props) {
  const [title, setTitle] = useState(tab.title ?? "");
  const save = (event: FormEvent) => {
    event.preventDefault();
    rename(title);
    close();
  };
  return (
    <Modal opened onClose={close} title="Rename the tab" transitionProps={{ duration: 0 }}>
      <form onSubmit={save}>
        <TextInput
          data-autofocus
          autoFocus
          label="Name of the tab"
          description="Leave it empty to use the name that the program sets."
          placeholder={shortLine(activeOf(tab)?.name ?? "")}
          maxLength={MOST_TITLE}
          autoComplete="off"
          value={title}
          onChange={({ currentTarget: { value } }) => setTitle(value)}
        />
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit">Rename</Button>
        </Group>
      </form>
    </Modal>
  );
}

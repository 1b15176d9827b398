/** The question that `ui/confirm.ts` asks. Its harmless answer has the focus. */
import "../ui/mantine-rest.css";
import { Button, Group, Modal, Text } from "@mantine/core";
import { useEffect } from "react";
import { useQuestion } from "../ui/confirm.ts";

export function Confirm() {
  const asked = useQuestion((state) => state.asked);
  const opener = asked?.opener;
  useEffect(() => {
    if (!(opener instanceof HTMLElement)) return;
    return () => opener.focus({ preventScroll: true });
  }, [opener]);
  if (!asked) return null;
  const { question, answer } = asked;
  const { text, yes, no = "Cancel", isHarmless = false } = question;
  return (
    <Modal
      opened
      onClose={() => answer(false)}
      title="Are you sure?"
      withCloseButton={false}
      transitionProps={{ duration: 0 }}
    >
      <Text mb="lg">{text}</Text>
      <Group justify="flex-end">
        <Button variant="default" data-autofocus autoFocus onClick={() => answer(false)}>
          {no}
        </Button>
        <Button color={isHarmless ? "blue" : "#c02b22"} onClick={() => answer(true)}>
          {yes}
        </Button>
      </Group>
    </Modal>
  );
}

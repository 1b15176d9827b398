/** The last of what a terminal has written, as text of the page: fingers select it, screen readers read it. */
import { Group, Modal } from "@mantine/core";
import { useEffect, useRef } from "react";
import { CopyButton } from "../../ui/CopyButton.tsx";
import classes from "./Terminal.module.css";

export function TextOverlay({ text, close }: { text: string; close: () => void }) {
  const end = useRef<HTMLPreElement>(null);
  useEffect(() => {
    end.current?.scrollIntoView({ block: "end" });
  }, []);
  return (
    <Modal opened fullScreen onClose={close} title="Select text" transitionProps={{ duration: 0 }}>
      <Group mb="sm">
        <CopyButton text={text}>Copy all</CopyButton>
      </Group>
      <pre ref={end} className={classes.text}>
        {text}
      </pre>
    </Modal>
  );
}

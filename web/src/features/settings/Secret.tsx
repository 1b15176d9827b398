/** What is shown only once: it has the focus, is copied by one press, and wraps instead of being cut off. */
import { Group } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { scrolled } from "../../ui/scrolled.ts";
import classes from "./Secret.module.css";

interface Props {
  readonly label: string;
  readonly text: string;
  /** More that can be done with it. */
  readonly actions?: ReactNode;
  /** It is already clear what it is: the focus stays where it is. */
  readonly isQuiet?: boolean;
}

export function Secret({ label, text, actions, isQuiet = false }: Props) {
  const shown = useRef<HTMLPreElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text takes the focus again
  useEffect(() => {
    if (!isQuiet) shown.current?.focus();
  }, [text, isQuiet]);
  return (
    <div>
      <pre ref={shown} className={classes.secret} {...scrolled(label)}>
        {text}
      </pre>
      <Group gap="xs" mt="xs">
        <CopyButton text={text} size="sm" />
        {actions}
      </Group>
    </div>
  );
}

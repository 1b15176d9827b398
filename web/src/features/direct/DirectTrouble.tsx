/** What stands in the way of the direct connection, and what to do about it; nothing while nothing does. */
import { Alert, Group, Text } from "@mantine/core";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { useDirect } from "../../direct/local.ts";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { scrolled } from "../../ui/scrolled.ts";
import classes from "./Direct.module.css";
import { obstacleWords } from "./obstacle-words.ts";

export function DirectTrouble() {
  const words = obstacleWords(useDirect());
  if (!words) return null;
  const { title, hint, command, more } = words;
  return (
    <Alert
      color="yellow"
      variant="outline"
      icon={<IconPlugConnectedX aria-hidden />}
      title={title}
      role="status"
    >
      <Text size="sm">{hint}</Text>
      {command && (
        <Group gap="xs" mt="xs" wrap="nowrap">
          <pre className={classes.command} {...scrolled("Command")}>
            {command}
          </pre>
          <CopyButton text={command} aria-label="Copy the command" className={classes.copy ?? ""} />
        </Group>
      )}
      {more && (
        <Text size="sm" mt="xs">
          {more}
        </Text>
      )}
    </Alert>
  );
}

/** The frame of a page: its title, what can be done with it, and its content. */
import { Group, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";
import classes from "./Page.module.css";
import { usePageTitle } from "./page-title.ts";

interface Props {
  readonly title: string;
  /** A sentence below the title. */
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, about, actions, children }: Props) {
  useEffect(() => {
    usePageTitle.setState({ title });
  }, [title]);
  return (
    <div className={classes.page}>
      <Group justify="space-between" align="flex-start" gap="sm">
        <div className={classes.words}>
          <Title order={1} tabIndex={-1} id="page-title">
            {title}
          </Title>
          {about && (
            <Text size="sm" c="dimmed">
              {about}
            </Text>
          )}
        </div>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </div>
  );
}

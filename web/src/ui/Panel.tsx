/** A card with a title, and what can be done with it. */
import "@mantine/core/styles/Card.css";
import { Card, Group, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

interface Props {
  readonly title?: string;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Panel({ title, about, actions, children }: Props) {
  return (
    <Card component="section" withBorder bg="var(--surface)" padding="md" aria-label={title}>
      {(title || actions) && (
        <Group justify="space-between" mb="sm" gap="xs">
          {title && (
            <Title order={2} tabIndex={-1}>
              {title}
            </Title>
          )}
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
      )}
      {about && (
        <Text size="sm" c="dimmed" mb="sm">
          {about}
        </Text>
      )}
      {children}
    </Card>
  );
}

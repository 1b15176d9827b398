/** The frame of a page before the app itself: its title has the focus, and replaces that of the page before in the browser. */
import "@mantine/core/styles/Card.css";
import { Card, Stack, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";
import { usePageTitle } from "../../ui/page-title.ts";
import classes from "./DoorCard.module.css";

interface Props {
  readonly title: string;
  /** The same in the browser's tab, where the app's name follows. */
  readonly short: string;
  readonly children: ReactNode;
}

export function DoorCard({ title, short, children }: Props) {
  useEffect(() => {
    usePageTitle.setState({ title: short });
    document.getElementById("page-title")?.focus({ preventScroll: true });
  }, [short]);
  return (
    <Card withBorder className={classes.card} bg="var(--surface)" padding="xl" component="main">
      <Stack gap="md">
        <img src="/icon.svg" alt="" width={40} height={40} />
        <Title order={1} id="page-title" tabIndex={-1}>
          {title}
        </Title>
        {children}
      </Stack>
    </Card>
  );
}

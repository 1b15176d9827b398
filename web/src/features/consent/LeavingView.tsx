/**
 * The answer is given. Who goes back to a program sees this page on: there is no second way to it, since a code that comes
 * twice ends all that it gave.
 */
import "@mantine/core/styles/Card.css";
import { Card, Text, Title } from "@mantine/core";
import { useEffect, useRef } from "react";
import classes from "./Consent.module.css";
import type { Answer } from "./use-answer.ts";

export function LeavingView({ answered }: { answered: Answer }) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus({ preventScroll: true }), []);
  return (
    <Card withBorder className={classes.card} bg="var(--surface)" padding="lg" component="main">
      <Title ref={title} order={1} id="page-title" tabIndex={-1} mb="md" className={classes.title ?? ""}>
        {answered === "allowed" ? "Back to the app" : "Not connected"}
      </Title>
      <Text>
        {answered === "allowed"
          ? "You allowed it, and can close this page. If the app does not go on, connect it again there. To end its access, go to Settings, “AI and tokens”."
          : "You denied it: it gets nothing. You can close this page."}
      </Text>
    </Card>
  );
}

/**
 * The answer is given. Who goes back to a program sees this page on: there is no second way to it, since a code that comes
 * twice ends all that it gave.
 */
import "@mantine/core/styles/Card.css";
import { Card, Text, Title } from "@mantine/core";
import type { RequestAnswer } from "@matrx/shared/oauth-api.ts";
import { type ReactNode, useEffect, useRef } from "react";
import classes from "./Consent.module.css";

export function LeavingView({ answered }: { answered: RequestAnswer }) {
  return (
    <Told title={answered === "allowed" ? "Back to the app" : "Not connected"}>
      {answered === "allowed"
        ? `You allowed it, and can close this page. ${ENDING}`
        : "You denied it: it gets nothing. You can close this page."}
    </Told>
  );
}

/** The answer was given on another page. */
export function AnsweredView({ answered }: { answered: RequestAnswer }) {
  return (
    <Told title="Answered already">
      {answered === "allowed"
        ? `You allowed this request on another page, and can close this one. ${ENDING}`
        : "You denied this request on another page: the app got nothing. You can close this page."}
    </Told>
  );
}

const ENDING =
  "If the app does not go on, connect it again there. To end its access, go to Settings, “AI and tokens”.";

function Told({ title: words, children }: { title: string; children: ReactNode }) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus({ preventScroll: true }), []);
  return (
    <Card withBorder className={classes.card} bg="var(--surface)" padding="lg" component="main">
      <Title ref={title} order={1} id="page-title" tabIndex={-1} mb="md" className={classes.title ?? ""}>
        {words}
      </Title>
      <Text>{children}</Text>
    </Card>
  );
}

/** Who asks, where the answer goes, and what a person may answer. */
import "@mantine/core/styles/Card.css";
import { Alert, Card, Stack, Text, Title } from "@mantine/core";
import { useEffect, useRef } from "react";
import { endSession } from "../../data/use-account.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { accountWords } from "../../ui/account-words.ts";
import { Facts } from "../../ui/Facts.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { GuardContext, useGuard } from "../activity/guard.ts";
import { AnswerForm } from "./AnswerForm.tsx";
import classes from "./Consent.module.css";
import type { Answering } from "./use-answer.ts";
import type { Asked } from "./use-request.ts";
import { WhereTo } from "./WhereTo.tsx";
import { nameWarnings, WhoAsks } from "./WhoAsks.tsx";

interface Props {
  readonly asked: Asked;
  /** The query, as the app wrote it. */
  readonly request: string;
  readonly answering: Answering;
  /** Somebody else may be signed in now. */
  readonly reread: () => Promise<void>;
}

export function RequestView({ asked, request, answering, reread }: Props) {
  const { client, account } = asked;
  const card = useRef<HTMLElement>(null);
  const title = useRef<HTMLHeadingElement>(null);
  const guard = useGuard(card);
  useEffect(() => title.current?.focus({ preventScroll: true }), []);
  const who = ["Who it is", <WhoAsks key="who" client={client} />] as const;
  const where = ["Then you go to", <WhereTo key="where" {...asked} />] as const;
  return (
    <Card ref={card} withBorder className={classes.card} bg="var(--surface)" padding="lg" component="main">
      <Stack gap="md">
        <Title ref={title} order={1} id="page-title" tabIndex={-1} className={classes.title ?? ""}>
          Connect <bdi>{visibleLine(client.name)}</bdi>?
        </Title>
        <Text>
          It wants to use machines of yours, by itself, until you end it in Settings under “AI and tokens”.
        </Text>
        <Facts
          facts={[
            // What is known comes before what the app says of itself.
            ...(client.host === null ? [where, who] : [who, where]),
            ["Signed in as", <SignedInAs key="as" name={accountWords(account)} reread={reread} />],
          ]}
        />
        <Alert color="yellow" variant="outline">
          {nameWarnings(client.name).map((warning) => (
            <Text key={warning} size="sm" mb="xs">
              <bdi>{warning}</bdi>
            </Text>
          ))}
          Allow it only if you have just asked this app to connect.
        </Alert>
        <GuardContext value={guard}>
          <AnswerForm asked={asked} request={request} answering={answering} />
        </GuardContext>
      </Stack>
    </Card>
  );
}

function SignedInAs({ name, reread }: { name: string; reread: () => Promise<void> }) {
  return (
    <span className={classes.account}>
      <bdi>{visibleLine(name)}</bdi>
      <ActionButton size="xs" variant="default" work={() => endSession().then(reread)}>
        Sign out
      </ActionButton>
    </span>
  );
}

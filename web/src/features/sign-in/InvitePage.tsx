/** An invite's link that was opened: makes the account that it is for. */
import "../../app/mantine-rest.css";
import { Alert, Button, Card, Stack, Text, TextInput, Title } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { type AccountView, acceptInvite } from "../../relay/account.ts";
import { Problem } from "../../ui/Problem.tsx";
import { useLinks } from "./links.ts";
import classes from "./SignInPage.module.css";

interface Props {
  readonly code: string;
  /** Who is signed in here already, if anybody. */
  readonly account: AccountView | null | undefined;
  readonly signedIn: () => Promise<void>;
}

export function InvitePage({ code, account, signedIn }: Props) {
  const [name, setName] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await acceptInvite({ code, name });
      useLinks.setState({ invite: undefined });
      await signedIn();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card withBorder className={classes.card} bg="var(--surface)" padding="xl" component="main">
      <form onSubmit={(event) => void submit(event)}>
        <Stack gap="md">
          <img src="/icon.svg" alt="" width={40} height={40} />
          <Title order={1} id="page-title" tabIndex={-1}>
            You are invited to this relay
          </Title>
          <Text>
            You get an account of your own: your machines, tokens and calls are yours alone. Nobody else sees
            them, not even who invited you.
          </Text>
          {account && (
            <Alert color="yellow" variant="outline">
              This browser is signed in as {account.display_name ?? account.account}. With a new account it is
              signed in to that instead.
            </Alert>
          )}
          <TextInput
            label="Your name"
            description="People with whom you share machines see it."
            required
            withAsterisk={false}
            maxLength={64}
            autoComplete="name"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          {error !== undefined && <Problem error={error} />}
          <Button type="submit" loading={isBusy}>
            Create my account
          </Button>
          <Button variant="subtle" onClick={() => useLinks.setState({ invite: undefined })}>
            Not now
          </Button>
        </Stack>
      </form>
    </Card>
  );
}

/** An invite's link that was opened: makes the account that it is for. */
import "@mantine/core/styles/Alert.css";
import { Alert, Button, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { type AccountView, acceptInvite } from "../../relay/account.ts";
import { say } from "../../ui/notices.ts";
import { PersonNameField } from "../../ui/PersonNameField.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { useSubmit } from "../../ui/use-submit.ts";
import { DoorCard } from "./DoorCard.tsx";
import { useLinks } from "./links.ts";

interface Props {
  readonly code: string;
  /** Who is signed in here already, if anybody. */
  readonly account: AccountView | null | undefined;
  readonly signedIn: () => Promise<void>;
}

export function InvitePage({ code, account, signedIn }: Props) {
  const [name, setName] = useState("");
  const { isBusy, error, submit } = useSubmit(async () => {
    await acceptInvite({ code, name });
    // What was on the screen may be another person's: it comes back only once it is known who is signed in now.
    await signedIn();
    useLinks.setState({ invite: undefined });
    say(`This is your account: you are signed in as ${name.trim()}.`);
  });
  return (
    <DoorCard title="You are invited to this relay" short="An invite">
      <form onSubmit={submit}>
        <Stack gap="md">
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
          <PersonNameField name={name} change={setName} />
          {error !== undefined && <Problem error={error} />}
          <Button type="submit" loading={isBusy}>
            Create my account
          </Button>
          <Button variant="subtle" onClick={() => useLinks.setState({ invite: undefined })}>
            Not now
          </Button>
        </Stack>
      </form>
    </DoorCard>
  );
}

/** Ways to sign in: a passkey, an issuer, a link, a recovery code. */
import { useQuery } from "../../app/query.ts";
import "../../app/mantine-rest.css";
import { Anchor, Card, Code, Divider, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import { leaveForIssuer } from "../../relay/account.ts";
import { api } from "../../relay/api.ts";
import { passkeyObstacle, signInWithPasskey } from "../../relay/passkey.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { LinkForm } from "./LinkForm.tsx";
import { useLinks } from "./links.ts";
import { RecoveryForm } from "./RecoveryForm.tsx";
import classes from "./SignInPage.module.css";

/** `signedIn` is called once somebody is. */
export function SignInPage({ signedIn }: { signedIn: () => Promise<void> }) {
  const [isLost, setLost] = useState(false);
  return (
    <Card withBorder className={classes.card} bg="var(--surface)" padding="xl" component="main">
      <Stack gap="md">
        <img src="/icon.svg" alt="" width={40} height={40} />
        <Title order={1} id="page-title" tabIndex={-1}>
          Sign in to Matrx Relay
        </Title>
        <WaitingNote />
        <PasskeyPart signedIn={signedIn} />
        <IssuersPart />
        <Divider label="or" />
        <Text size="sm">
          Open the sign-in link that the relay printed when it started. It works once;{" "}
          <Code>npm run link</Code> on the relay's machine prints another one, and with <Code>-- --qr</Code> a
          QR code too. A browser that is signed in shows one under Settings, “Sign in another device”.
        </Text>
        <LinkForm signedIn={signedIn} />
        {isLost ? (
          <RecoveryForm signedIn={signedIn} />
        ) : (
          <Anchor component="button" type="button" size="sm" onClick={() => setLost(true)}>
            Lost your passkeys?
          </Anchor>
        )}
      </Stack>
    </Card>
  );
}

function WaitingNote() {
  const { pair, share } = useLinks();
  if (pair !== undefined)
    return (
      <Text>
        Something is waiting for your approval under the code <Code>{pair}</Code>: a machine to add, or a
        command line to sign in. You will see it once you have signed in.
      </Text>
    );
  if (share !== undefined) return <Text>Somebody shares machines with you. Sign in to accept.</Text>;
  return null;
}

function PasskeyPart({ signedIn }: { signedIn: () => Promise<void> }) {
  const obstacle = passkeyObstacle();
  if (obstacle)
    return (
      <Text size="sm" c="dimmed">
        {obstacle}
      </Text>
    );
  return (
    <ActionButton size="md" fullWidth work={() => signInWithPasskey().then(signedIn)}>
      Use a passkey
    </ActionButton>
  );
}

function IssuersPart() {
  const { data } = useQuery({
    queryKey: ["sign-in"],
    queryFn: () => api("GET /v1/sign-in"),
    staleTime: 60_000,
  });
  return data?.oidc.map(({ id, name }) => (
    <ActionButton key={id} size="md" fullWidth variant="default" work={() => leaveForIssuer(id)}>
      Sign in with {name}
    </ActionButton>
  ));
}

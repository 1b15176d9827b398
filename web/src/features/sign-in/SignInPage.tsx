/** Ways to sign in: a passkey, an issuer, a link, a recovery code. */
import "@mantine/core/styles/Divider.css";
import { Code, Divider, Text } from "@mantine/core";
import { useEffect } from "react";
import { leaveForIssuer } from "../../relay/account.ts";
import { api } from "../../relay/api.ts";
import { passkeyObstacle, signInWithPasskey } from "../../relay/passkey.ts";
import { createReading } from "../../relay/reading.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { Fold } from "../../ui/Fold.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { DoorCard } from "./DoorCard.tsx";
import { LinkForm } from "./LinkForm.tsx";
import { useLinks } from "./links.ts";
import { RecoveryForm } from "./RecoveryForm.tsx";

interface Props {
  /** Is called once somebody is. */
  readonly signedIn: () => Promise<void>;
  /** What waits for them, if it is none of what a link asked for. */
  readonly waiting?: string;
}

export function SignInPage({ signedIn, waiting }: Props) {
  return (
    <DoorCard title="Sign in to Matrx Relay" short="Sign in">
      {waiting === undefined ? <WaitingNote /> : <Text>{waiting}</Text>}
      <PasskeyPart signedIn={signedIn} />
      <IssuersPart />
      <Divider label="or" />
      <Text size="sm">Open the sign-in link that the relay printed when it started.</Text>
      <LinkForm signedIn={signedIn} />
      <Fold title="Need a new link?">{() => <OtherLinks />}</Fold>
      <Fold title="Lost your passkeys?">{() => <RecoveryForm signedIn={signedIn} />}</Fold>
    </DoorCard>
  );
}

function OtherLinks() {
  return (
    <Text size="sm">
      Each link works once. On the relay's machine, <Code>npm run link</Code> prints another one, and with{" "}
      <Code>-- --qr</Code> a QR code too. A browser that is signed in shows one under Settings, “Sign in
      another device”.
    </Text>
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

const issuers = createReading(() => api("GET /v1/sign-in"), undefined);

function IssuersPart() {
  const { data, error, refetch } = issuers.use();
  useEffect(() => void refetch(), [refetch]);
  if (!data && error) return <Problem error={error} retry={() => void refetch()} />;
  return data?.oidc.map(({ id, name }) => (
    <ActionButton key={id} size="md" fullWidth variant="default" work={() => leaveForIssuer(id)}>
      Sign in with {name}
    </ActionButton>
  ));
}

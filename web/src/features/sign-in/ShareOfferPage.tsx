/** A share's link that was opened: the person says whether to accept. */
import "../../app/mantine-rest.css";
import { Button, Card, Group, Stack, Text, Title } from "@mantine/core";
import { api } from "../../relay/api.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { say } from "../../ui/notices.ts";
import { useLinks } from "./links.ts";
import classes from "./SignInPage.module.css";

interface Props {
  readonly code: string;
  readonly accepted: () => Promise<void>;
}

export function ShareOfferPage({ code, accepted }: Props) {
  const done = () => useLinks.setState({ share: undefined });
  const accept = async () => {
    const { shared_by: by, devices } = await api("POST /v1/shares/accept", { body: { code } });
    const names = devices.map(({ name }) => name).join(", ") || "no machine at present";
    done();
    await accepted();
    say(`${by} shares with you: ${names}.`);
  };
  return (
    <Card withBorder className={classes.card} bg="var(--surface)" padding="xl" component="main">
      <Stack gap="md">
        <img src="/icon.svg" alt="" width={40} height={40} />
        <Title order={1} id="page-title" tabIndex={-1}>
          Somebody shares machines with you
        </Title>
        <Text>
          If you know who sent you this link, accept: the machines are then in your list, and you use them as
          a guest. You can leave at any time.
        </Text>
        <Group>
          <ActionButton work={accept}>Accept</ActionButton>
          <Button variant="default" onClick={done}>
            Not now
          </Button>
        </Group>
      </Stack>
    </Card>
  );
}

/** A share's link that was opened: the person says whether to accept. */
import { Button, Group, Text } from "@mantine/core";
import { refreshDevices } from "../../data/devices.ts";
import { queryClient } from "../../data/query.ts";
import { useAccount } from "../../data/use-account.ts";
import { api } from "../../relay/api.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { accountWords } from "../../ui/account-words.ts";
import { say } from "../../ui/notices.ts";
import { visibleLine } from "../../ui/visible-text.ts";
import { DoorCard } from "./DoorCard.tsx";
import { useLinks } from "./links.ts";

export function ShareOfferPage({ code }: { code: string }) {
  const { data: account } = useAccount();
  const done = () => useLinks.setState({ share: undefined });
  const accept = async () => {
    const { shared_by: by, devices } = await api("POST /v1/shares/accept", { body: { code } });
    const names = devices.map(({ name }) => name).join(", ") || "no machine at present";
    await Promise.all([refreshDevices(), queryClient.invalidateQueries()]);
    done();
    say(`${by} shares with you: ${names}.`);
  };
  return (
    <DoorCard title="Somebody shares machines with you" short="A share">
      <Text>
        If you know who sent you this link, accept: the machines are then in your list, and you use them as a
        guest. You can leave at any time.
      </Text>
      {account && (
        <Text size="sm">
          For the account <bdi>{visibleLine(accountWords(account))}</bdi>.
        </Text>
      )}
      <Group>
        <ActionButton work={accept}>Accept</ActionButton>
        <Button variant="default" onClick={done}>
          Not now
        </Button>
      </Group>
    </DoorCard>
  );
}

/** Other people: what is shared with them, what they share, and for the relay's owner who else is here. */
import { Stack } from "@mantine/core";
import { useAccount } from "../../../data/use-account.ts";
import { GivenPanel } from "./GivenPanel.tsx";
import { InvitesPanel } from "./InvitesPanel.tsx";
import { LinksPanel } from "./LinksPanel.tsx";
import { ReceivedPanel } from "./ReceivedPanel.tsx";

export function PeoplePart() {
  const { data: account } = useAccount();
  return (
    <Stack gap="md">
      <GivenPanel />
      <LinksPanel />
      <ReceivedPanel />
      {account?.relay_owner && <InvitesPanel />}
    </Stack>
  );
}

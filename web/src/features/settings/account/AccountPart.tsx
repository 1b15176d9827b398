/** The person who is signed in: their name, the ways to sign in again, and where they are signed in. */
import { Stack } from "@mantine/core";
import { useAccount } from "../../../data/use-account.ts";
import { AnotherDevicePanel } from "./AnotherDevicePanel.tsx";
import { NamePanel } from "./NamePanel.tsx";
import { PasskeysPanel } from "./PasskeysPanel.tsx";
import { RecoveryCodesPanel } from "./RecoveryCodesPanel.tsx";
import { SessionsPanel } from "./SessionsPanel.tsx";

export function AccountPart() {
  const { data: account } = useAccount();
  if (!account) return null;
  return (
    <Stack gap="md">
      <NamePanel account={account} />
      <PasskeysPanel />
      <RecoveryCodesPanel />
      <SessionsPanel ownGrant={account.grant} />
      <AnotherDevicePanel />
    </Stack>
  );
}

/** For the relay's owner: invites that wait, and the accounts that came by one. */
import { Button, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { Loaded } from "../../../ui/Loaded.tsx";
import { Panel } from "../../../ui/Panel.tsx";
import { Items } from "../Items.tsx";
import { InviteForm } from "./InviteForm.tsx";
import { InviteItem } from "./InviteItem.tsx";
import { useInvites } from "./queries.ts";

export function InvitesPanel() {
  const [isInviting, setInviting] = useState(false);
  return (
    <Panel
      title="Accounts on this relay"
      about="People whom you invite get an account of their own. Neither of you sees what the other has, unless you share it."
      actions={
        !isInviting && (
          <Button
            size="sm"
            variant="default"
            leftSection={<IconPlus size={16} aria-hidden />}
            onClick={() => setInviting(true)}
          >
            Invite somebody
          </Button>
        )
      }
    >
      {isInviting && <InviteForm close={() => setInviting(false)} />}
      <Loaded query={useInvites()}>
        {(invites) =>
          invites.length === 0 ? (
            <Text size="sm">You are the only one here.</Text>
          ) : (
            <Items label="Accounts on this relay">
              {invites.map((invite) => (
                <InviteItem key={invite.id} invite={invite} />
              ))}
            </Items>
          )
        }
      </Loaded>
    </Panel>
  );
}

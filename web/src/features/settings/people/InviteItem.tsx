/** An invite, or the account that came by it. */
import { api } from "../../../relay/api.ts";
import { ActionButton } from "../../../ui/ActionButton.tsx";
import { dateOf } from "../../../ui/format.ts";
import { say } from "../../../ui/notices.ts";
import { Status } from "../../../ui/Status.tsx";
import { Item } from "../Items.tsx";
import { type Invite, refreshInvites } from "./queries.ts";

export function InviteItem({ invite }: { invite: Invite }) {
  const { name, account, created, expires, accepted, closed } = invite;
  return (
    <Item
      name={name}
      state={<State invite={invite} />}
      details={[
        `invited ${dateOf(created)}`,
        !accepted && !closed && `until ${dateOf(expires)}`,
        accepted !== null && `here since ${dateOf(accepted)}`,
        closed !== null && `closed ${dateOf(closed)}`,
        accepted !== null && `account ${account}`,
      ]}
      actions={!closed && (accepted ? <CloseButton invite={invite} /> : <WithdrawButton invite={invite} />)}
    />
  );
}

function State({ invite: { accepted, closed } }: { invite: Invite }) {
  if (closed) return <Status tone="idle">Closed</Status>;
  return accepted ? <Status tone="ok">Here</Status> : <Status tone="info">Invited</Status>;
}

function WithdrawButton({ invite: { id, name } }: { invite: Invite }) {
  const withdraw = async () => {
    await api("DELETE /v1/invites/{invite}", { path: { invite: id } });
    await refreshInvites();
    say(`${name} is no longer invited.`);
  };
  return (
    <ActionButton
      size="sm"
      variant="default"
      aria-label={`Withdraw the invite for ${name}`}
      work={withdraw}
      ask={{
        text: `Withdraw the invite for ${name}? Its link stops working.`,
        yes: "Withdraw it",
        no: "Keep it",
      }}
    >
      Withdraw
    </ActionButton>
  );
}

function CloseButton({ invite: { account, name } }: { invite: Invite }) {
  const close = async () => {
    await api("DELETE /v1/accounts/{account}", { path: { account } });
    await refreshInvites();
    say(`${name}'s account was closed.`);
  };
  return (
    <ActionButton
      size="sm"
      variant="default"
      aria-label={`Close the account of ${name}`}
      work={close}
      ask={{
        text: `Close the account of ${name}? All its sessions, tokens and shares end, and it can't be opened again.`,
        yes: "Close it for good",
        no: "Keep it",
      }}
    >
      Close
    </ActionButton>
  );
}

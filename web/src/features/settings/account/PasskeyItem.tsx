/** A passkey: its name, where it works, when it was used, and taking it away. */
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { api } from "../../../relay/api.ts";
import { forgetPasskey } from "../../../relay/passkey.ts";
import { ActionButton } from "../../../ui/ActionButton.tsx";
import { ago, dateOf } from "../../../ui/format.ts";
import { say } from "../../../ui/notices.ts";
import { Form } from "../Form.tsx";
import classes from "../Items.module.css";
import { Item } from "../Items.tsx";
import { type Passkey, refreshPasskeys } from "./queries.ts";

interface Props {
  readonly passkey: Passkey;
  readonly isLast: boolean;
}

export function PasskeyItem({ passkey, isLast }: Props) {
  const [isRenaming, setRenaming] = useState(false);
  const { name, host, synced, created, used } = passkey;
  return (
    <Item
      name={name}
      details={[
        host !== location.hostname && `for ${host}`,
        synced && "synced to your other devices",
        `added ${dateOf(created)}`,
        used ? `last used ${ago(used)}` : "never used",
      ]}
      actions={
        <>
          {!isRenaming && (
            <Button
              size="sm"
              variant="default"
              aria-label={`Rename passkey ${name}`}
              onClick={() => setRenaming(true)}
            >
              Rename
            </Button>
          )}
          <RemoveButton passkey={passkey} isLast={isLast} />
        </>
      }
    >
      {isRenaming && (
        <div className={classes.more}>
          <RenameForm passkey={passkey} done={() => setRenaming(false)} />
        </div>
      )}
    </Item>
  );
}

function RemoveButton({ passkey, isLast }: Props) {
  const { id, name } = passkey;
  const remove = async () => {
    await api("DELETE /v1/passkeys/{passkey}", { path: { passkey: id } });
    await forgetPasskey(passkey);
    await refreshPasskeys();
    say(`${name} was removed. Browsers that it signed in stay signed in: see below.`);
  };
  const last = isLast ? " It is your last one." : "";
  return (
    <ActionButton
      size="sm"
      variant="default"
      aria-label={`Remove passkey ${name}`}
      work={remove}
      ask={{
        text: `Remove the passkey ${name}? Nobody can sign in with it any more.${last}`,
        yes: "Remove it",
        no: "Keep it",
      }}
    >
      Remove
    </ActionButton>
  );
}

function RenameForm({ passkey: { id, name }, done }: { passkey: Passkey; done: () => void }) {
  const [text, setText] = useState(name);
  const save = async () => {
    const body = { name: text };
    const renamed = await api("PATCH /v1/passkeys/{passkey}", { path: { passkey: id }, body });
    await refreshPasskeys();
    say(`${name} is now called ${renamed.name}.`);
    done();
  };
  return (
    <Form submitLabel="Save" submitName={`Save the name of ${name}`} work={save} cancel={done}>
      <TextInput
        label="Name"
        required
        withAsterisk={false}
        maxLength={64}
        autoComplete="off"
        autoFocus
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </Form>
  );
}

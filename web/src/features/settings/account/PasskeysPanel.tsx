/** The person's passkeys: those that they have, and a new one. */
import { Alert, Button, Text, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { makePasskey, passkeyObstacle } from "../../../relay/passkey.ts";
import { Loaded } from "../../../ui/Loaded.tsx";
import { say } from "../../../ui/notices.ts";
import { Panel } from "../../../ui/Panel.tsx";
import { Form } from "../Form.tsx";
import { Items } from "../Items.tsx";
import { PasskeyItem } from "./PasskeyItem.tsx";
import { type Passkey, refreshPasskeys, usePasskeys } from "./queries.ts";

export function PasskeysPanel() {
  const [isAdding, setAdding] = useState(false);
  const obstacle = passkeyObstacle();
  return (
    <Panel
      title="Passkeys"
      about="The safest way to sign in: your phone, computer or security key proves that it is you."
      actions={
        !obstacle &&
        !isAdding && (
          <Button
            size="sm"
            variant="default"
            leftSection={<IconPlus size={16} aria-hidden />}
            onClick={() => setAdding(true)}
          >
            Add a passkey
          </Button>
        )
      }
    >
      {obstacle && (
        <Text size="sm" mb="sm">
          {obstacle}
        </Text>
      )}
      {isAdding && <AddForm done={() => setAdding(false)} />}
      <Loaded query={usePasskeys()}>{(passkeys) => <PasskeyList passkeys={passkeys} />}</Loaded>
    </Panel>
  );
}

function AddForm({ done }: { done: () => void }) {
  const [name, setName] = useState("");
  const add = async () => {
    const made = await makePasskey(name.trim() || undefined);
    await refreshPasskeys();
    say(`${made.name} was added: you can sign in with it from now on.`);
    done();
  };
  return (
    <div style={{ marginBottom: 16 }}>
      <Form submitLabel="Add it" work={add} cancel={done}>
        <TextInput
          label="Name of the new passkey"
          description="To tell it from others. Empty: this browser's name."
          placeholder="this phone"
          maxLength={64}
          autoComplete="off"
          data-autofocus
          autoFocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      </Form>
    </div>
  );
}

function PasskeyList({ passkeys }: { passkeys: readonly Passkey[] }) {
  const isHere = passkeys.some(({ host }) => host === location.hostname);
  return (
    <>
      {!isHere && (
        <Alert color="yellow" variant="outline" mb={passkeys.length > 0 ? "sm" : 0}>
          You have no passkey here, so you need a link to sign in again.
          {passkeys.length > 0 && ` Those below are for other addresses than ${location.host}.`}
        </Alert>
      )}
      {passkeys.length > 0 && (
        <Items label="Passkeys">
          {passkeys.map((passkey) => (
            <PasskeyItem key={passkey.id} passkey={passkey} isLast={passkeys.length === 1} />
          ))}
        </Items>
      )}
    </>
  );
}

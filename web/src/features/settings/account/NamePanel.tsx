/** Who is signed in, how others see them, and the way out. */
import { Text } from "@mantine/core";
import { isText, useKeptState } from "../../../base/use-kept-state.ts";
import { refreshAccount } from "../../../data/use-account.ts";
import type { AccountView } from "../../../relay/account.ts";
import { api } from "../../../relay/api.ts";
import { say } from "../../../ui/notices.ts";
import { Panel } from "../../../ui/Panel.tsx";
import { PersonNameField } from "../../../ui/PersonNameField.tsx";
import { Form } from "../Form.tsx";
import { SignOutButton } from "./SignOutButton.tsx";

export function NamePanel({ account: { account, display_name: known } }: { account: AccountView }) {
  const [typed, setTyped] = useKeptState("own name", isText);
  const name = typed ?? known ?? "";
  const save = async () => {
    await api("PATCH /v1/account", { body: { display_name: name } });
    await refreshAccount();
    setTyped(undefined);
    say("Your name was saved.");
  };
  return (
    <Panel title="You" actions={<SignOutButton />}>
      <Text size="sm" mb="md">
        Signed in as <bdi>{known ?? account}</bdi>
        {known && (
          <Text span size="sm" c="dimmed">
            {" "}
            · account {account}
          </Text>
        )}
      </Text>
      <Form submitLabel="Save" submitName="Save your name" work={save} isDisabled={name === (known ?? "")}>
        <PersonNameField name={name} change={setTyped} />
      </Form>
    </Panel>
  );
}

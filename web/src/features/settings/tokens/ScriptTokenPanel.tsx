/** Makes a token for an own script, which acts as its owner: only for who knows that. */
import { Alert, Checkbox } from "@mantine/core";
import { useState } from "react";
import { Panel } from "../../../ui/Panel.tsx";
import { Form } from "../Form.tsx";
import { useOwnMachine } from "../own-machines.ts";
import { newDraft, newScriptToken } from "./draft.ts";
import { MachinesField } from "./MachinesField.tsx";
import { NameField } from "./NameField.tsx";
import { NewTokenPanel } from "./NewTokenPanel.tsx";
import { UntilField } from "./UntilField.tsx";
import { useNewToken } from "./use-new-token.ts";

export function ScriptTokenPanel({ close }: { close: () => void }) {
  const first = { ...newDraft(useOwnMachine()), allFolders: true };
  const { made, fields, drop, create } = useNewToken("token for a script", first, newScriptToken);
  const [isUnderstood, setUnderstood] = useState(false);
  const cancel = () => {
    drop();
    close();
  };
  if (made) return <NewTokenPanel created={made} close={close} />;
  return (
    <Panel title="New token for my own script">
      <Form submitLabel="Create the token" work={create} cancel={cancel}>
        <Alert color="red" variant="outline" title="This token acts as you">
          It runs any command unconfined, is asked nothing and sees your secrets. Never give it to an AI.
        </Alert>
        <NameField {...fields} placeholder="backup script" />
        <MachinesField {...fields} />
        <UntilField {...fields} />
        <Checkbox
          required
          label="It is for a script of my own, not for an AI"
          checked={isUnderstood}
          onChange={(event) => setUnderstood(event.currentTarget.checked)}
        />
      </Form>
    </Panel>
  );
}

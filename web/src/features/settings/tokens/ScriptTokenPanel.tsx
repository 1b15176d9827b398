/** Makes a token for an own script, which acts as its owner: only for who knows that. */
import { Alert, Checkbox } from "@mantine/core";
import { useState } from "react";
import { useKeptState } from "../../../app/use-kept-state.ts";
import { api } from "../../../relay/api.ts";
import { Panel } from "../../../ui/Panel.tsx";
import { Form } from "../Form.tsx";
import { useOwnMachine } from "../own-machines.ts";
import { type Draft, isDraft, missingIn, newDraft, newScriptToken } from "./draft.ts";
import { MachinesField } from "./MachinesField.tsx";
import { NameField } from "./NameField.tsx";
import { type Created, NewTokenPanel } from "./NewTokenPanel.tsx";
import { refreshTokens } from "./queries.ts";
import { UntilField } from "./UntilField.tsx";

export function ScriptTokenPanel({ close }: { close: () => void }) {
  const machine = useOwnMachine();
  const [kept, keep] = useKeptState("token for a script", isDraft);
  const draft = kept ?? { ...newDraft(machine), allFolders: true };
  const [isUnderstood, setUnderstood] = useState(false);
  const [made, setMade] = useState<Created>();
  const fields = { draft, change: (changed: Partial<Draft>) => keep({ ...draft, ...changed }) };
  const create = async () => {
    const missing = missingIn(draft);
    if (missing) throw new Error(missing);
    setMade(await api("POST /v1/tokens", { body: newScriptToken(draft) }));
    keep(undefined);
    await refreshTokens();
  };
  const cancel = () => {
    keep(undefined);
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

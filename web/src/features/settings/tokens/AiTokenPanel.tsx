/** Makes a token for an AI, with the least rights that are of use. */
import { Stack } from "@mantine/core";
import { useState } from "react";
import { useKeptState } from "../../../app/use-kept-state.ts";
import { api } from "../../../relay/api.ts";
import { Panel } from "../../../ui/Panel.tsx";
import { Form } from "../Form.tsx";
import { useOwnMachine } from "../own-machines.ts";
import { type Draft, isDraft, missingIn, newAiToken, newDraft } from "./draft.ts";
import { EffectsField } from "./EffectsField.tsx";
import { FoldersField } from "./FoldersField.tsx";
import { MachinesField } from "./MachinesField.tsx";
import { MoreLimits } from "./MoreLimits.tsx";
import { NameField } from "./NameField.tsx";
import { type Created, NewTokenPanel } from "./NewTokenPanel.tsx";
import { refreshTokens } from "./queries.ts";
import { UntilField } from "./UntilField.tsx";
import { Warnings } from "./Warnings.tsx";

export function AiTokenPanel({ close }: { close: () => void }) {
  const machine = useOwnMachine();
  const [kept, keep] = useKeptState("token for an AI", isDraft);
  const draft = kept ?? newDraft(machine);
  const [made, setMade] = useState<Created>();
  const fields = { draft, change: (changed: Partial<Draft>) => keep({ ...draft, ...changed }) };
  const create = async () => {
    const missing = missingIn(draft);
    if (missing) throw new Error(missing);
    setMade(await api("POST /v1/tokens", { body: newAiToken(draft) }));
    keep(undefined);
    await refreshTokens();
  };
  const cancel = () => {
    keep(undefined);
    close();
  };
  if (made) return <NewTokenPanel created={made} close={close} />;
  return (
    <Panel
      title="New token for an AI"
      about="For a program that decides by itself. It never gets your own rights: what it runs stays in a sandbox."
    >
      <Form submitLabel="Create the token" work={create} cancel={cancel}>
        <Stack gap="md">
          <NameField {...fields} placeholder="coding assistant" description="As you see it in the record." />
          <MachinesField {...fields} />
          <FoldersField {...fields} />
          <EffectsField {...fields} />
          <MoreLimits {...fields} />
          <UntilField {...fields} />
          <Warnings draft={draft} />
        </Stack>
      </Form>
    </Panel>
  );
}

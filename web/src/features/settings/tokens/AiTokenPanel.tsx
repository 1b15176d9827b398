/** Makes a token for an AI, with the least rights that are of use. */
import { Stack } from "@mantine/core";
import { Panel } from "../../../ui/Panel.tsx";
import { Form } from "../Form.tsx";
import { useOwnMachine } from "../own-machines.ts";
import { newAiToken, newDraft } from "./draft.ts";
import { EffectsField } from "./EffectsField.tsx";
import { FoldersField } from "./FoldersField.tsx";
import { MachinesField } from "./MachinesField.tsx";
import { MoreLimits } from "./MoreLimits.tsx";
import { NameField } from "./NameField.tsx";
import { NewTokenPanel } from "./NewTokenPanel.tsx";
import { UntilField } from "./UntilField.tsx";
import { useNewToken } from "./use-new-token.ts";
import { Warnings } from "./Warnings.tsx";

export function AiTokenPanel({ close }: { close: () => void }) {
  const first = newDraft(useOwnMachine());
  const { made, fields, drop, create } = useNewToken("token for an AI", first, newAiToken);
  const cancel = () => {
    drop();
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
          <Warnings draft={fields.draft} />
        </Stack>
      </Form>
    </Panel>
  );
}

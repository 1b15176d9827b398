/** Shares machines with a person who has another account on this relay. Its link is shown once. */
import { Button, Text } from "@mantine/core";
import { useState } from "react";
import { keptForm, useKeptState } from "../../../base/use-kept-state.ts";
import { api } from "../../../relay/api.ts";
import type { Answer } from "../../../relay/routes.ts";
import { Form } from "../Form.tsx";
import classes from "../Items.module.css";
import { LinkCard } from "../LinkCard.tsx";
import { useOwnMachine } from "../own-machines.ts";
import { type Draft, isDraft, missingIn, newDraft, newShare } from "../tokens/draft.ts";
import { EffectsField } from "../tokens/EffectsField.tsx";
import { FoldersField } from "../tokens/FoldersField.tsx";
import { MachinesField } from "../tokens/MachinesField.tsx";
import { NameField } from "../tokens/NameField.tsx";
import { UntilField } from "../tokens/UntilField.tsx";
import { Warnings } from "../tokens/Warnings.tsx";
import { refreshShares } from "./queries.ts";

const KEPT = "share";

/** Somebody began one in this tab. */
export function isShareTyped(): boolean {
  return keptForm(KEPT, isDraft) !== undefined;
}

interface Props {
  /** The one that was asked for. */
  readonly machine: string | undefined;
  readonly close: () => void;
}

export function ShareForm({ machine, close }: Props) {
  const own = useOwnMachine();
  const [kept, keep] = useKeptState(KEPT, isDraft);
  const draft = kept ?? newDraft(machine ?? own);
  const [made, setMade] = useState<Answer<"POST /v1/shares">>();
  const fields = { draft, change: (changed: Partial<Draft>) => keep({ ...draft, ...changed }) };
  const share = async () => {
    const missing = missingIn(draft);
    if (missing) throw new Error(missing);
    setMade(await api("POST /v1/shares", { body: newShare(draft) }));
    keep(undefined);
    await refreshShares();
  };
  const cancel = () => {
    keep(undefined);
    close();
  };
  return (
    <section className={`${classes.more} ${classes.above}`} aria-label="Share a machine">
      {made ? (
        <>
          <LinkCard
            link={made.link}
            qrSvg={made.qr_svg}
            label="Link of the share"
            text={`Give this link to ${made.name}. It works once, within 7 days, for a person who is signed in to another account.`}
          />
          <Button mt="sm" variant="default" onClick={close}>
            Done
          </Button>
        </>
      ) : (
        <Form submitLabel="Make a link" work={share} cancel={cancel}>
          <Text size="sm">
            They never get your rights: secrets stay closed, and commands run in a sandbox.
          </Text>
          <NameField {...fields} label="For whom" placeholder="Ben" description="Only you and they see it." />
          <MachinesField {...fields} canBeAll={false} />
          <FoldersField {...fields} canSeeSecrets={false} />
          <EffectsField {...fields} />
          <UntilField {...fields} />
          <Warnings draft={draft} />
        </Form>
      )}
    </section>
  );
}

/** What the app may do, and the answer. It reads, unless the person wants more, and nothing is chosen for them. */
import { Alert, Anchor } from "@mantine/core";
import { useState } from "react";
import { api } from "../../relay/api.ts";
import { Problem } from "../../ui/Problem.tsx";
import { DecisionButton } from "../activity/DecisionButton.tsx";
import { type Draft, missingIn, newAiToken, newDraft } from "../settings/tokens/draft.ts";
import { EffectsField } from "../settings/tokens/EffectsField.tsx";
import { FoldersField } from "../settings/tokens/FoldersField.tsx";
import { MoreLimits } from "../settings/tokens/MoreLimits.tsx";
import { NameField } from "../settings/tokens/NameField.tsx";
import { UntilField } from "../settings/tokens/UntilField.tsx";
import { Warnings } from "../settings/tokens/Warnings.tsx";
import classes from "./Consent.module.css";
import { OfferedMachines } from "./OfferedMachines.tsx";
import type { Answering } from "./use-answer.ts";
import type { Asked } from "./use-request.ts";

interface Props {
  readonly asked: Asked;
  readonly request: string;
  readonly answering: Answering;
}

export function AnswerForm({ asked, request, answering }: Props) {
  const { client, machine, offered, account } = asked;
  const { isSending, problem, answer, fail } = answering;
  const [draft, setDraft] = useState(() => ({ ...newDraft(machine ?? undefined), name: client.name }));
  const fields = { draft, change: (changed: Partial<Draft>) => setDraft({ ...draft, ...changed }) };
  const button = { about: "page-title", isSending };
  const allow = () => {
    const missing = missingHere(draft);
    if (missing) return fail(new Error(missing));
    const body = { request, account: account.account, grant: newAiToken(draft) };
    void answer("allowed", () => api("POST /v1/oauth/consents", { body }));
  };
  const deny = () => void answer("denied", () => api("POST /v1/oauth/refusals", { body: { request } }));
  return (
    <fieldset className={classes.fields} aria-labelledby="page-title" disabled={isSending}>
      {offered.length === 0 ? (
        <NothingToOffer machine={machine} />
      ) : (
        <>
          <OfferedMachines {...fields} offered={offered} isFixed={machine !== null} />
          <FoldersField {...fields} canSeeSecrets={false} />
          <EffectsField {...fields} />
          <MoreLimits {...fields} />
          <UntilField {...fields} />
          <NameField
            {...fields}
            label="Name in your list"
            description="As you see it in Settings and in the record."
          />
          <Warnings draft={draft} />
        </>
      )}
      {problem !== undefined && <Problem error={problem} />}
      <div className={classes.answers}>
        {offered.length > 0 && (
          <DecisionButton kind="main" {...button} press={allow}>
            Allow
          </DecisionButton>
        )}
        <DecisionButton kind="danger" {...button} press={deny}>
          Deny
        </DecisionButton>
      </div>
    </fieldset>
  );
}

/** What must be said before it can be allowed; undefined: nothing. */
function missingHere(draft: Draft): string | undefined {
  if (draft.machines.length === 0) return "Choose at least one machine.";
  if (draft.name.trim() === "") return "Give it a name in your list.";
  return missingIn(draft);
}

function NothingToOffer({ machine }: Pick<Asked, "machine">) {
  return (
    <Alert color="red" variant="outline">
      {machine === null ? (
        <>
          You have no machine of your own yet. <Anchor href="/pair">Add one</Anchor>, then connect the app
          again.
        </>
      ) : (
        "The app asks for a machine that is not among yours. Check the address that you gave it."
      )}
    </Alert>
  );
}

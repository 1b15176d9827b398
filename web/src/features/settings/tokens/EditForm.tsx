/** Changes a token or a share: its name, its limits, its end. */
import { useState } from "react";
import { differing, rebased } from "../../../base/rebased.ts";
import { api } from "../../../relay/api.ts";
import { say } from "../../../ui/notices.ts";
import { Form } from "../Form.tsx";
import { changeOf, type Draft, draftOf, missingIn } from "./draft.ts";
import { EffectsField } from "./EffectsField.tsx";
import { FoldersField } from "./FoldersField.tsx";
import { MachinesField } from "./MachinesField.tsx";
import { MoreLimits } from "./MoreLimits.tsx";
import { NameField } from "./NameField.tsx";
import { isShare, readToken, refreshTokens, type Token } from "./queries.ts";
import { ScriptEffectsField } from "./ScriptEffectsField.tsx";
import { UntilField } from "./UntilField.tsx";
import { Warnings } from "./Warnings.tsx";

interface Props {
  readonly token: Token;
  readonly done: () => void;
  /** Besides the tokens, what shows it. */
  readonly refresh?: () => Promise<void>;
}

export function EditForm({ token, done, refresh }: Props) {
  const [base, setBase] = useState(token);
  const before = draftOf(base);
  const [draft, setDraft] = useState(before);
  const fields = { draft, change: (changed: Partial<Draft>) => setDraft({ ...draft, ...changed }) };
  const isScript = token.credential === "script";
  const save = async () => {
    const missing = missingIn(draft);
    if (missing) throw new Error(missing);
    const now = (await readToken(token.id)) ?? base;
    setBase(now);
    if (differing(before, draftOf(now)).length > 0) {
      // Nobody saves what they have not seen.
      setDraft(rebased(before, draft, draftOf(now)));
      throw new Error(ELSEWHERE);
    }
    const path = { grant: token.id };
    const changed = await api("PATCH /v1/tokens/{grant}", { path, body: changeOf(now, draft) });
    await Promise.all([refreshTokens(), refresh?.()]);
    say(`${changed.name} was changed.${lateWords(changed)}`);
    done();
  };
  return (
    <Form submitLabel="Save" submitName={`Save ${token.name}`} work={save} cancel={done}>
      <NameField {...fields} />
      <MachinesField {...fields} canBeAll={!isShare(token)} />
      <FoldersField {...fields} canSeeSecrets={!isScript && !isShare(token)} />
      {isScript ? (
        <ScriptEffectsField {...fields} />
      ) : (
        <EffectsField {...fields} hasOwnRules={before.ask === "kept"} />
      )}
      <MoreLimits {...fields} isForModels={!isScript} />
      <UntilField {...fields} expires={token.expires} />
      {!isScript && <Warnings draft={draft} />}
    </Form>
  );
}

const ELSEWHERE =
  "It was changed elsewhere meanwhile. What was changed there stands here now, unless you changed the same. Look, then save again.";

function lateWords({
  devices_holding: all,
  devices_acknowledged: told,
}: {
  readonly devices_holding: number;
  readonly devices_acknowledged: number;
}): string {
  const missing = all - told;
  return missing > 0 ? ` ${missing} of ${all} machines can't be reached, and are told later.` : "";
}

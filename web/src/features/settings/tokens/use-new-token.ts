/** A token that is being made: what was chosen for it stays in this tab until it is made or dropped. */
import { useState } from "react";
import { useKeptState } from "../../../base/use-kept-state.ts";
import { api } from "../../../relay/api.ts";
import { type Draft, isDraft, missingIn, type NewToken } from "./draft.ts";
import type { Created } from "./NewTokenPanel.tsx";
import { refreshTokens } from "./queries.ts";

/** `name`: under which the tab keeps it. `first`: what is chosen before anybody chooses. */
export function useNewToken(name: string, first: Draft, wanted: (draft: Draft) => NewToken) {
  const [kept, keep] = useKeptState(name, isDraft);
  const [made, setMade] = useState<Created>();
  const draft = kept ?? first;
  return {
    /** Undefined: not made yet. */
    made,
    fields: { draft, change: (changed: Partial<Draft>) => keep({ ...draft, ...changed }) },
    drop: () => keep(undefined),
    /** Throws Error for a person, ApiError. */
    async create() {
      const missing = missingIn(draft);
      if (missing) throw new Error(missing);
      setMade(await api("POST /v1/tokens", { body: wanted(draft) }));
      keep(undefined);
      await refreshTokens();
    },
  };
}

/** What a browser is told of. */
import { Checkbox, Stack } from "@mantine/core";
import { useState } from "react";
import { api } from "../../relay/api.ts";
import type { PushKind, PushSubscriptionView } from "../../relay/push.ts";
import { sayProblem } from "../../ui/notices.ts";
import { KINDS, refreshPush } from "./push-data.ts";

export function PushKinds({ subscription: { id, kinds } }: { subscription: PushSubscriptionView }) {
  /** What was chosen, until the relay has it. */
  const [chosen, setChosen] = useState<readonly PushKind[]>();
  const shown = chosen ?? kinds;
  const choose = async (next: readonly PushKind[]) => {
    setChosen(next);
    try {
      await api("PATCH /v1/push/subscriptions/{subscription}", {
        path: { subscription: id },
        body: { kinds: [...next] },
      });
    } catch (error) {
      sayProblem(error);
    } finally {
      await refreshPush();
      setChosen(undefined);
    }
  };
  return (
    <Checkbox.Group
      label="Tell me about"
      value={[...shown]}
      onChange={(values) =>
        void choose(KINDS.map(({ kind }) => kind).filter((kind) => values.includes(kind)))
      }
    >
      <Stack gap="sm" mt="xs">
        {KINDS.map(({ kind, label, about }) => (
          <Checkbox key={kind} value={kind} label={label} description={about} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}

/** What a browser is told of. */
import { Checkbox, Stack } from "@mantine/core";
import { api } from "../../relay/api.ts";
import type { PushKind, PushSubscriptionView } from "../../relay/push.ts";
import { useSent } from "../../ui/use-sent.ts";
import { KINDS, refreshPush } from "./push-data.ts";

export function PushKinds({ subscription: { id, kinds } }: { subscription: PushSubscriptionView }) {
  const [chosen, choose] = useSent(
    (next: readonly PushKind[]) =>
      api("PATCH /v1/push/subscriptions/{subscription}", {
        path: { subscription: id },
        body: { kinds: [...next] },
      }),
    refreshPush,
  );
  return (
    <Checkbox.Group
      label="Tell me about"
      value={[...(chosen ?? kinds)]}
      onChange={(values) => choose(KINDS.map(({ kind }) => kind).filter((kind) => values.includes(kind)))}
    >
      <Stack gap="sm" mt="xs">
        {KINDS.map(({ kind, label, about }) => (
          <Checkbox key={kind} value={kind} label={label} description={about} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}

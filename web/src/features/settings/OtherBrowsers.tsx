/** The other browsers of the account that are notified. */
import { Group, Text } from "@mantine/core";
import { api } from "../../relay/api.ts";
import type { PushSubscriptionView } from "../../relay/push.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { dateOf } from "../../ui/format.ts";
import { say } from "../../ui/notices.ts";
import { Panel } from "../../ui/Panel.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { LastSent } from "./LastSent.tsx";
import classes from "./OtherBrowsers.module.css";
import { KINDS, refreshPush } from "./push-data.ts";

export function OtherBrowsers({ subscriptions }: { subscriptions: readonly PushSubscriptionView[] }) {
  return (
    <Panel
      title="Other browsers"
      about="Each chooses for itself what it is told of. It ends when the browser signs out."
    >
      {subscriptions.length === 0 ? (
        <Text size="sm">No other browser is notified.</Text>
      ) : (
        <ul className={classes.list}>
          {subscriptions.map((subscription) => (
            <OtherBrowser key={subscription.id} subscription={subscription} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function OtherBrowser({ subscription }: { subscription: PushSubscriptionView }) {
  const { id, created, kinds } = subscription;
  const name = visibleLine(subscription.name);
  const of = KINDS.filter(({ kind }) => kinds.includes(kind)).map(({ label }) => label);
  const turnOff = async () => {
    await api("DELETE /v1/push/subscriptions/{subscription}", { path: { subscription: id } });
    await refreshPush();
    say(`${name} is no longer notified.`);
  };
  return (
    <Group component="li" justify="space-between" align="flex-start" gap="xs">
      <div className={classes.words}>
        <Text fw={600}>
          <bdi>{name}</bdi>
        </Text>
        <Text size="sm" c="dimmed">
          {of.length > 0 ? of.join(", ") : "Told of nothing"} · since {dateOf(created)}
        </Text>
        <LastSent subscription={subscription} />
      </div>
      <ActionButton
        size="md"
        variant="default"
        aria-label={`Turn off notifications in ${name}`}
        ask={{
          text: `Turn off notifications in ${name}? It can turn them on again.`,
          yes: "Turn off",
          isHarmless: true,
        }}
        work={turnOff}
      >
        Turn off
      </ActionButton>
    </Group>
  );
}

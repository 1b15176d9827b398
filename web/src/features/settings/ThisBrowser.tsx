/** Notifications in this browser: on or off, of what, and whether they come. */
import { Alert, Stack, Switch, Text } from "@mantine/core";
import { IconBellOff } from "@tabler/icons-react";
import { api } from "../../relay/api.ts";
import {
  PushError,
  type PushObstacle,
  type PushOverview,
  type PushState,
  type PushSubscriptionView,
  turnPushOff,
  turnPushOn,
} from "../../relay/push.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { say, sayProblem } from "../../ui/notices.ts";
import { Panel } from "../../ui/Panel.tsx";
import { useWork } from "../../ui/use-work.ts";
import { LastSent } from "./LastSent.tsx";
import { PushKinds } from "./PushKinds.tsx";
import { refreshPush } from "./push-data.ts";

interface Props {
  readonly overview: PushOverview;
  readonly state: PushState;
}

/** Why there are none here, and what to do. */
const WHY_NOT: Readonly<Record<PushObstacle | "denied", { readonly title: string; readonly hint: string }>> =
  {
    denied: {
      title: "This browser does not allow notifications here",
      hint: "Allow them for this page in the browser's settings (often behind the lock beside the address), then load the page again.",
    },
    install: {
      title: "Add this app to the home screen first",
      hint: "On an iPhone or iPad, only apps on the home screen get notifications: tap Share, then Add to Home Screen. Open the app from there and come back to this page.",
    },
    insecure: {
      title: "Notifications need https",
      hint: "Open the relay at its https address, or at http://localhost on its own machine.",
    },
    unsupported: {
      title: "This browser has no notifications",
      hint: "Use a current Chrome, Edge, Firefox or Safari, and no private window.",
    },
  };

export function ThisBrowser({ overview, state }: Props) {
  const { isBusy, run } = useWork(sayProblem);
  const own = overview.subscriptions.find((subscription) => subscription.own);
  const toggle = (isWanted: boolean) =>
    run(async () => {
      // The switch stands as it says before it is said.
      await (isWanted ? turnPushOn(overview) : turnPushOff(own?.id)).finally(refreshPush);
      say(isWanted ? "This browser is notified from now on." : "This browser is no longer notified.");
    });
  const isPossible = state === "on" || state === "off";
  return (
    <Panel
      title="This browser"
      about="Notifications name the machine and the tool. What a call would do is shown on the page alone."
    >
      <Stack gap="md" align="flex-start">
        {isPossible ? (
          <Switch
            size="md"
            label="Notify me in this browser"
            description="Also while no page of the app is open"
            checked={state === "on"}
            disabled={isBusy}
            onChange={({ currentTarget }) => void toggle(currentTarget.checked)}
          />
        ) : (
          <Alert
            color="blue"
            variant="outline"
            icon={<IconBellOff aria-hidden />}
            title={WHY_NOT[state].title}
          >
            <Text size="sm">{WHY_NOT[state].hint}</Text>
          </Alert>
        )}
        {state === "on" && own && <Details subscription={own} />}
      </Stack>
    </Panel>
  );
}

function Details({ subscription }: { subscription: PushSubscriptionView }) {
  return (
    <>
      <PushKinds subscription={subscription} />
      <LastSent subscription={subscription} />
      <ActionButton size="md" variant="default" work={() => sendTest(subscription.id)}>
        Send a test
      </ActionButton>
    </>
  );
}

async function sendTest(subscription: string): Promise<void> {
  const { results } = await api("POST /v1/push/test", { body: { subscription } });
  await refreshPush();
  const problem = results[0]?.problem;
  if (problem) throw new PushError(`${problem}.`, "Try again later, or turn notifications off and on again.");
  say("The test is on its way. If nothing appears, look at the notification settings of this device.");
}

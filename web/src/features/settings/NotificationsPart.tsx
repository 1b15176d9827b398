/** Notifications: in this browser, at which hours not, and in which other browsers. */
import "../../ui/mantine-rest.css";
import { Stack } from "@mantine/core";
import { Loaded } from "../../ui/Loaded.tsx";
import { OtherBrowsers } from "./OtherBrowsers.tsx";
import { usePush } from "./push-data.ts";
import { QuietHoursPanel } from "./QuietHoursPanel.tsx";
import { ThisBrowser } from "./ThisBrowser.tsx";

export function NotificationsPart() {
  const push = usePush();
  return (
    <Loaded query={push}>
      {({ overview, state }) => (
        <Stack gap="md">
          <ThisBrowser overview={overview} state={state} />
          <QuietHoursPanel key={JSON.stringify(overview.quiet_hours)} hours={overview.quiet_hours} />
          <OtherBrowsers subscriptions={overview.subscriptions.filter(({ own }) => !own)} />
        </Stack>
      )}
    </Loaded>
  );
}

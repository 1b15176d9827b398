/** The hours in which nobody is notified. */
import { Button, Group, NativeSelect, Stack, Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import { api } from "../../relay/api.ts";
import type { PushOverview } from "../../relay/push.ts";
import { say, sayProblem } from "../../ui/notices.ts";
import { Panel } from "../../ui/Panel.tsx";
import { useWork } from "../../ui/use-work.ts";
import { refreshPush } from "./push-data.ts";

type Hours = NonNullable<PushOverview["quiet_hours"]>;

const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const NIGHT: Hours = { from: "22:00", to: "07:00", time_zone: HERE, approvals: true };

/** `hours` as the relay has them; what is typed here is kept until it is saved. */
export function QuietHoursPanel({ hours }: { hours: Hours | null }) {
  const [draft, setDraft] = useState(hours ?? NIGHT);
  const { isBusy, run } = useWork(sayProblem);
  const change = (part: Partial<Hours>) => setDraft((before) => ({ ...before, ...part }));
  const save = (next: Hours | null) =>
    run(async () => {
      await api("PATCH /v1/push", { body: { quiet_hours: next } });
      say(next ? `Quiet from ${next.from} to ${next.to}.` : "There are no quiet hours any more.");
      await refreshPush();
    });
  const isChanged = hours !== null && JSON.stringify(hours) !== JSON.stringify(draft);
  return (
    <Panel title="Quiet hours" about="Nothing is sent then, nor later. For all browsers of the account.">
      <Stack gap="md">
        <Switch
          size="md"
          label="Keep quiet at certain hours"
          checked={hours !== null}
          disabled={isBusy}
          onChange={({ currentTarget }) => void save(currentTarget.checked ? draft : null)}
        />
        {hours && (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void save(draft);
            }}
          >
            <Stack gap="md">
              <Group gap="md" align="flex-end">
                <TextInput
                  type="time"
                  label="From"
                  required
                  withAsterisk={false}
                  size="md"
                  value={draft.from}
                  onChange={({ currentTarget }) => change({ from: currentTarget.value })}
                />
                <TextInput
                  type="time"
                  label="To"
                  required
                  withAsterisk={false}
                  size="md"
                  value={draft.to}
                  onChange={({ currentTarget }) => change({ to: currentTarget.value })}
                />
                <NativeSelect
                  size="md"
                  label="Time zone"
                  data={timeZones(draft.time_zone)}
                  value={draft.time_zone}
                  onChange={({ currentTarget }) => change({ time_zone: currentTarget.value })}
                />
              </Group>
              <Switch
                size="md"
                label="Let approvals through"
                description="A call waits for an answer for ten minutes only"
                checked={draft.approvals}
                onChange={({ currentTarget }) => change({ approvals: currentTarget.checked })}
              />
              <Group>
                <Button type="submit" size="md" loading={isBusy} disabled={!isChanged}>
                  Save
                </Button>
              </Group>
            </Stack>
          </form>
        )}
      </Stack>
    </Panel>
  );
}

/** As the browser knows them; the one in use is always there. */
function timeZones(current: string): string[] {
  return [...new Set([current, HERE, "UTC", ...Intl.supportedValuesOf("timeZone")])].sort();
}

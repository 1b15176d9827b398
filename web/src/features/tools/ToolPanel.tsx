/** One tool: what it does, its form, and the call that was made with it. */

import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import type { DeviceView } from "@matrx/shared/api.ts";
import type { ToolDescription } from "@matrx/shared/tool.ts";
import { type FormEvent, type KeyboardEvent, useMemo, useState } from "react";
import { useConnection } from "../../relay/connection.ts";
import { isOnline, stateOf } from "../../ui/device-words.ts";
import { Panel } from "../../ui/Panel.tsx";
import { SchemaForm } from "../../ui/SchemaForm.tsx";
import { Status, type Tone } from "../../ui/Status.tsx";
import { type Draft, fieldsOf, inputOf, problemOf } from "../../ui/schema-fields.ts";
import { CopyAs } from "./CopyAs.tsx";
import { useDraft } from "./draft.ts";
import { RunView } from "./RunView.tsx";
import { useRun } from "./use-run.ts";

const EFFECTS: Readonly<Record<ToolDescription["effect"], { tone: Tone; text: string }>> = {
  read: { tone: "idle", text: "Only reads" },
  write: { tone: "warn", text: "Changes files" },
  execute: { tone: "bad", text: "Runs or deletes things" },
};

export function ToolPanel({ device, tool }: { device: DeviceView; tool: ToolDescription }) {
  const { name, description, details, effect, unavailable, input_schema: schema } = tool;
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const [draft, setDraft] = useDraft(device.id, name);
  const [isTried, setTried] = useState(false);
  const isLive = useConnection(({ state }) => state === "online");
  const { run, start, stop } = useRun(device.id, tool);
  const isRunning = run?.state === "running";
  const isReachable = isLive && isOnline(device);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    const input = readInput(fields, draft);
    if (input && isReachable && !isRunning) void start(input);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLFormElement>) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
  };
  return (
    <Stack gap="md">
      <Panel title={name} actions={<Status tone={EFFECTS[effect].tone}>{EFFECTS[effect].text}</Status>}>
        <Text size="sm" mb="md">
          <bdi>
            {description} {details}
          </bdi>
        </Text>
        {unavailable !== undefined && (
          <Alert color="yellow" variant="outline" mb="md" title="It can't work there now">
            {unavailable}
          </Alert>
        )}
        <form onSubmit={submit} onKeyDown={onKeyDown} noValidate>
          <SchemaForm fields={fields} draft={draft} set={setDraft} isTried={isTried} />
          <Group mt="lg" gap="xs">
            <Button type="submit" disabled={!isReachable || isRunning}>
              {isRunning ? "Running …" : "Run"}
            </Button>
            <CopyAs device={device.id} tool={name} input={readInput(fields, draft)} />
          </Group>
          {!isReachable && (
            <Text size="sm" c="dimmed" mt="xs">
              {isLive
                ? `The machine can't be reached. ${stateOf(device).text}.`
                : "Waiting for the connection …"}
            </Text>
          )}
        </form>
      </Panel>
      {run && <RunView run={run} tool={tool} device={device.name} stop={stop} />}
    </Stack>
  );
}

/** Undefined while something is missing or wrong. */
function readInput(fields: ReturnType<typeof fieldsOf>, draft: Draft): Record<string, unknown> | undefined {
  if (fields.some((field) => problemOf(field, draft[field.name] ?? "") !== undefined)) return undefined;
  return inputOf(fields, draft);
}

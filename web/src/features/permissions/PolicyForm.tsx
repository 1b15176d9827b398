/** The policy, to be changed. What results stands beside it in words, before it is saved. */

import { Alert, Button, Group, Stack, Switch } from "@mantine/core";
import type { Policy } from "@matrx/shared/policy.ts";
import { policyLines } from "@matrx/shared/policy-words.ts";
import { useState } from "react";
import { differing, rebased } from "../../base/rebased.ts";
import { useKeptState } from "../../base/use-kept-state.ts";
import { queryClient } from "../../data/query.ts";
import { api } from "../../relay/api.ts";
import { fits } from "../../relay/shapes.ts";
import { Facts } from "../../ui/Facts.tsx";
import { say } from "../../ui/notices.ts";
import { Panel } from "../../ui/Panel.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { useWork } from "../../ui/use-work.ts";
import { AskRules } from "./AskRules.tsx";
import { LimitField, ListField } from "./LimitField.tsx";
import classes from "./PolicyForm.module.css";
import { RatesField } from "./RatesField.tsx";

interface Props {
  readonly device: string;
  readonly stored: Policy;
  /** The machine's tools, as suggestions. */
  readonly tools: readonly string[];
}

/** What is typed, and the policy that it began with. */
interface Draft {
  readonly base: Policy;
  readonly policy: Policy;
}

export function PolicyForm({ device, stored, tools }: Props) {
  const [draft, setDraft] = useKeptState(`policy:${device}`, isDraft);
  const policy = draft ? rebased(draft.base, draft.policy, stored) : stored;
  const [warnings, setWarnings] = useState<readonly string[]>([]);
  const [error, setError] = useState<unknown>();
  const { isBusy, run } = useWork(setError);
  const isChanged = differing(policy, stored).length > 0;
  const isElsewhereToo = isChanged && draft !== undefined && differing(draft.base, stored).length > 0;
  const set = (change: Partial<{ [K in keyof Policy]: Policy[K] | undefined }>) =>
    setDraft({ base: stored, policy: withoutUndefined({ ...policy, ...change }) });
  const save = () => {
    setError(undefined);
    return run(async () => {
      const now = await api("GET /v1/devices/{device}/policy", { path: { device } });
      queryClient.setQueryData(["policy", device], now);
      // Nobody saves what they have not seen.
      if (differing(now, stored).length > 0) return;
      const { warnings: told = [], ...saved } = await api("PUT /v1/devices/{device}/policy", {
        path: { device },
        body: policy,
      });
      queryClient.setQueryData(["policy", device], saved);
      await queryClient.invalidateQueries({ queryKey: ["explain", device] });
      setDraft(undefined);
      setWarnings(told);
      say("The permissions were saved. They apply at once.");
    });
  };
  return (
    <div className={classes.columns}>
      <Panel title="Limits">
        <Stack gap="lg">
          <LimitField
            label="Tools"
            unlimited="Any tool"
            entries={policy.allowed_tools}
            suggestions={tools}
            set={(allowed_tools) => set({ allowed_tools })}
          />
          <ListField
            label="Never these tools"
            entries={policy.denied_tools}
            suggestions={tools}
            set={(denied_tools) => set({ denied_tools })}
          />
          <LimitField
            label="Folders"
            unlimited="Any folder"
            placeholder="/home/ann/projects"
            entries={policy.allowed_paths}
            set={(allowed_paths) => set({ allowed_paths })}
          />
          <ListField
            label="Never these paths"
            placeholder="**/.env*"
            entries={policy.denied_paths}
            set={(denied_paths) => set({ denied_paths })}
          />
          <LimitField
            label="Apps that may be opened"
            unlimited="Any app"
            entries={policy.allowed_apps}
            set={(allowed_apps) => set({ allowed_apps })}
          />
          <LimitField
            label="Ports that may be reached"
            unlimited="Any for you, none for others"
            placeholder="5432 or 8000-8099"
            entries={policy.allowed_ports?.map(String)}
            set={(ports) => set({ allowed_ports: ports?.map(portOf) })}
          />
          <AskRules
            rules={policy.ask ?? []}
            tools={tools}
            set={(ask) => set({ ask: ask.length > 0 ? ask : undefined })}
          />
          <Switch
            label="Run my own commands in the sandbox too"
            description="Those of AIs always run there."
            checked={policy.sandbox === "always"}
            onChange={(event) => set({ sandbox: event.currentTarget.checked ? "always" : undefined })}
          />
          <Switch
            label="Record what terminals show"
            description="On the machine, with times. What is typed is not recorded."
            checked={policy.record_terminals === true}
            onChange={(event) => set({ record_terminals: event.currentTarget.checked ? true : undefined })}
          />
          <RatesField rates={policy.rates} set={(rates) => set({ rates })} />
        </Stack>
      </Panel>
      <Panel title={isChanged ? "What would result" : "What holds now"}>
        <div aria-live="polite">
          <Facts facts={policyLines(policy).map(splitLine)} />
        </div>
        {warnings.map((warning) => (
          <Alert key={warning} color="yellow" variant="outline" mt="sm">
            {warning}
          </Alert>
        ))}
        {isElsewhereToo && (
          <Alert color="yellow" variant="outline" mt="sm">
            These permissions were changed elsewhere meanwhile. What was changed there stays, unless you
            changed the same. Look at what would result, then save.
          </Alert>
        )}
        {error !== undefined && <Problem error={error} />}
        <Group mt="md">
          <Button onClick={() => void save()} disabled={!isChanged} loading={isBusy}>
            Save
          </Button>
          <Button variant="default" disabled={!isChanged} onClick={() => setDraft(undefined)}>
            Discard
          </Button>
        </Group>
      </Panel>
    </div>
  );
}

function isDraft(kept: unknown): kept is Draft {
  if (typeof kept !== "object" || kept === null || !("base" in kept) || !("policy" in kept)) return false;
  return isPolicy(kept.base) && isPolicy(kept.policy);
}

/** As far as the form needs it: the relay checks what is sent. */
function isPolicy(kept: unknown): kept is Policy {
  return fits("GET /v1/devices/{device}/policy", kept);
}

/** "Tools    not limited here" */
function splitLine(line: string): [string, string] {
  const at = line.indexOf(" ");
  return [line.slice(0, at), line.slice(at).trim()];
}

/** A number, or a range as it was typed: the relay says what is wrong with it. */
function portOf(text: string): number | string {
  return /^\d+$/.test(text) ? Number(text) : text;
}

/** An absent limit is none; one that is undefined would not be sent, but look like a change. */
function withoutUndefined(policy: { [K in keyof Policy]: Policy[K] | undefined }): Policy {
  return Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== undefined)) as Policy;
}

/** When a person is asked first. A call is asked about if it fits every field of a rule. */

import {
  Button,
  Card,
  Checkbox,
  Group,
  Stack,
  TagsInput,
  Text,
  TextInput,
  VisuallyHidden,
} from "@mantine/core";
import type { PolicyAskRule } from "@matrx/shared/policy.ts";

interface Props {
  readonly rules: readonly PolicyAskRule[];
  readonly tools: readonly string[];
  readonly set: (rules: PolicyAskRule[]) => void;
}

const EFFECTS = { read: "reads", write: "changes files", execute: "runs or deletes things" } as const;
type Effect = keyof typeof EFFECTS;

export function AskRules({ rules, tools, set }: Props) {
  const change = (at: number, rule: PolicyAskRule | undefined) =>
    set(rules.flatMap((before, index) => (index === at ? (rule ? [rule] : []) : [before])));
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600}>
        Ask a person first
      </Text>
      {rules.map((rule, at) => (
        <RuleCard
          // biome-ignore lint/suspicious/noArrayIndexKey: rules have no name, and are told apart by their place
          key={at}
          number={at + 1}
          rule={rule}
          tools={tools}
          set={(next) => change(at, next)}
        />
      ))}
      <div>
        <Button
          size="xs"
          variant="default"
          disabled={rules.length >= 64}
          onClick={() => set([...rules, { effects: ["write", "execute"] }])}
        >
          Add a rule
        </Button>
      </div>
    </Stack>
  );
}

interface RuleProps {
  readonly number: number;
  readonly rule: PolicyAskRule;
  readonly tools: readonly string[];
  readonly set: (rule: PolicyAskRule | undefined) => void;
}

function RuleCard({ number, rule, tools, set }: RuleProps) {
  const { effects, tools: named, match, at } = rule;
  const change = (change: Partial<{ [K in keyof PolicyAskRule]: PolicyAskRule[K] | undefined }>) =>
    set(
      Object.fromEntries(
        Object.entries({ ...rule, ...change }).filter(([, value]) => value !== undefined),
      ) as PolicyAskRule,
    );
  return (
    <Card component="fieldset" withBorder padding="sm" bg="var(--surface-raised)" m={0}>
      <VisuallyHidden component="legend">Rule {number}</VisuallyHidden>
      <Stack gap="sm">
        <Checkbox.Group
          label="Before a tool that"
          description="None: before any"
          value={[...(effects ?? [])]}
          onChange={(value) => change({ effects: value.length > 0 ? (value as Effect[]) : undefined })}
        >
          <Group mt={6} gap="md">
            {Object.entries(EFFECTS).map(([effect, words]) => (
              <Checkbox key={effect} value={effect} label={words} />
            ))}
          </Group>
        </Checkbox.Group>
        <TagsInput
          label="Of these tools"
          placeholder={named?.length ? "" : "any"}
          data={[...tools]}
          value={[...(named ?? [])]}
          acceptValueOnBlur
          onChange={(value) => change({ tools: value.length > 0 ? value : undefined })}
        />
        <TextInput
          label="Whose path, command or address matches"
          placeholder="git push*"
          value={match ?? ""}
          onChange={({ currentTarget: { value } }) => change({ match: value || undefined })}
        />
        <Group justify="space-between">
          <Checkbox
            label="Only somebody at the machine can answer"
            checked={at === "machine"}
            onChange={(event) => change({ at: event.currentTarget.checked ? "machine" : undefined })}
          />
          <Button size="xs" variant="subtle" color="red" onClick={() => set(undefined)}>
            Remove rule {number}
          </Button>
        </Group>
      </Stack>
    </Card>
  );
}

/** Who may do what: the decision about one call of one caller, with the rules that make it. */

import { NativeSelect, SimpleGrid, Stack, Table, Text, TextInput } from "@mantine/core";
import { decisionWords } from "@matrx/shared/policy-words.ts";
import { useState } from "react";
import { useQuery } from "../../data/query.ts";
import { api } from "../../relay/api.ts";
import type { Answer } from "../../relay/routes.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { Status, type Tone } from "../../ui/Status.tsx";
import { nameInText, visibleLine } from "../../ui/visible-text.ts";

type Explanation = Answer<"POST /v1/devices/{device}/policy/explain">;

const TONES: Readonly<Record<Explanation["decision"], Tone>> = {
  allowed: "ok",
  asked: "warn",
  refused: "bad",
};
const WORDS: Readonly<Record<Explanation["decision"], string>> = {
  allowed: "Allowed",
  asked: "Asks first",
  refused: "Refused",
};

/** The parameter that rules look at, by tool. */
const SUBJECTS: Readonly<Record<string, string>> = {
  Bash: "command",
  TerminalExecute: "command",
  Read: "file_path",
  Write: "file_path",
  Edit: "file_path",
  ListDirectory: "path",
  Delete: "path",
  OpenUrl: "url",
  OpenPath: "path",
};

export function WhoMayPanel({ device, tools }: { device: string; tools: readonly string[] }) {
  const [grant, setGrant] = useState("");
  const [tool, setTool] = useState("Bash");
  const [text, setText] = useState("");
  const tokens = useQuery({ queryKey: ["tokens"], queryFn: () => api("GET /v1/tokens") });
  const subject = SUBJECTS[tool];
  const query = useQuery({
    queryKey: ["explain", device, grant, tool, text],
    queryFn: () =>
      api("POST /v1/devices/{device}/policy/explain", {
        path: { device },
        body: {
          tool,
          ...(subject !== undefined && text && { input: { [subject]: text } }),
          ...(grant && { grant }),
        },
      }),
    enabled: tool !== "",
    placeholderData: (before) => before,
    retry: false,
  });
  const callers = tokens.data?.tokens.filter(({ kind }) => kind !== "web") ?? [];
  return (
    <Panel title="Who may do what">
      <SimpleGrid cols={{ base: 1, sm: 3 }} mb="md">
        <NativeSelect
          label="Who"
          value={grant}
          onChange={(event) => setGrant(event.currentTarget.value)}
          data={[
            { value: "", label: "You, here" },
            ...callers.map(({ id, name }) => ({ value: id, label: nameInText(name) })),
          ]}
        />
        <NativeSelect
          label="Calls"
          value={tool}
          onChange={(event) => setTool(event.currentTarget.value)}
          data={[...new Set([tool, ...tools])]
            .sort()
            .map((name) => ({ value: name, label: visibleLine(name) }))}
        />
        {subject !== undefined && (
          <TextInput
            label={`With the ${subject.replace("_", " ")}`}
            placeholder="any"
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        )}
      </SimpleGrid>
      <Loaded query={query}>{(explanation) => <Decision {...explanation} />}</Loaded>
    </Panel>
  );
}

function Decision(explanation: Explanation) {
  const { decision, rules, notes } = explanation;
  return (
    <Stack gap="sm">
      <div aria-live="polite">
        <Status tone={TONES[decision] ?? "idle"}>{WORDS[decision] ?? visibleLine(decision)}</Status>
        <Text size="sm" mt="xs">
          <bdi>{visibleLine(decisionWords(explanation))}</bdi>
        </Text>
      </div>
      {rules.length > 0 && (
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Rule of</Table.Th>
              <Table.Th>Field</Table.Th>
              <Table.Th>Says</Table.Th>
              <Table.Th>Entry</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rules.map(({ by, field, says, entry, decides }) => (
              <Table.Tr key={`${by} ${field} ${entry ?? ""} ${says}`} fw={decides ? 600 : undefined}>
                <Table.Td>{by === "grant" ? "the token" : "the machine"}</Table.Td>
                <Table.Td>{field}</Table.Td>
                <Table.Td>
                  {says}
                  {decides && " (decides)"}
                </Table.Td>
                <Table.Td>
                  <bdi>{entry && visibleLine(entry)}</bdi>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {notes.map((note) => (
        <Text key={note} size="sm" c="dimmed">
          <bdi>{visibleLine(note)}</bdi>
        </Text>
      ))}
    </Stack>
  );
}

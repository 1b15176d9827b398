/** A limit that is absent, or a list; an empty list allows nothing. */
import { Radio, Stack, TagsInput, Text } from "@mantine/core";

interface ListProps {
  readonly label: string;
  readonly entries: readonly string[] | undefined;
  readonly suggestions?: readonly string[];
  readonly placeholder?: string;
  readonly set: (entries: string[] | undefined) => void;
}

export function LimitField({ label, unlimited, entries, set, ...list }: ListProps & { unlimited: string }) {
  const isLimited = entries !== undefined;
  return (
    <Stack gap="xs">
      <Radio.Group
        label={label}
        value={isLimited ? "these" : "any"}
        onChange={(value) => set(value === "any" ? undefined : (entries?.slice() ?? []))}
      >
        <Stack gap={6} mt={4}>
          <Radio value="any" label={unlimited} />
          <Radio value="these" label="Only these" />
        </Stack>
      </Radio.Group>
      {isLimited && (
        <>
          <Entries aria-label={`${label}: only these`} entries={entries} set={set} {...list} />
          {entries.length === 0 && (
            <Text size="xs" c="dimmed">
              An empty list allows nothing.
            </Text>
          )}
        </>
      )}
    </Stack>
  );
}

/** A list that is absent when it is empty. */
export function ListField({ label, entries, set, ...list }: ListProps) {
  return (
    <Entries
      label={label}
      entries={entries ?? []}
      set={(next) => set(next && next.length > 0 ? next : undefined)}
      {...list}
    />
  );
}

interface EntriesProps extends Omit<ListProps, "label"> {
  readonly label?: string;
  readonly "aria-label"?: string;
}

function Entries({ entries = [], suggestions = [], placeholder, set, ...labels }: EntriesProps) {
  return (
    <TagsInput
      {...labels}
      value={[...entries]}
      data={[...suggestions]}
      maxDropdownHeight={220}
      placeholder={entries.length === 0 ? (placeholder ?? "Type, then Enter") : ""}
      acceptValueOnBlur
      onChange={set}
    />
  );
}

/** The account's record: who did what on which machine; verified in this browser, and saved as a file. */
import { Button, Stack, Text } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Loaded } from "../../../ui/Loaded.tsx";
import { Panel } from "../../../ui/Panel.tsx";
import { Items } from "../Items.tsx";
import { EntryItem } from "./EntryItem.tsx";
import { type Filter, isFiltered, useEntries } from "./entries.ts";
import { KINDS } from "./entry-words.ts";
import { RecordFilter } from "./RecordFilter.tsx";
import { SaveButtons } from "./SaveButtons.tsx";
import { VerifyPanel } from "./VerifyPanel.tsx";

export function RecordPart() {
  const { filter, change } = useFilter();
  const query = useEntries(filter);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  return (
    <Stack gap="md">
      <VerifyPanel />
      <Panel title="Entries" actions={<SaveButtons filter={filter} />}>
        <RecordFilter filter={filter} change={change} />
        <Loaded query={query}>
          {({ pages }) => {
            const entries = pages.flatMap((page) => page.entries);
            return entries.length === 0 ? (
              <Text size="sm" role="status">
                {hasNextPage
                  ? "Nothing of the kind among the newest entries."
                  : "Nothing of the kind is recorded."}
              </Text>
            ) : (
              <Items label="Entries">
                {entries.map((entry) => (
                  <EntryItem key={entry.seq} entry={entry} narrow={change} />
                ))}
              </Items>
            );
          }}
        </Loaded>
        {hasNextPage && (
          <Button mt="md" variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {isFiltered(filter) ? "Look for older ones" : "Older entries"}
          </Button>
        )}
      </Panel>
    </Stack>
  );
}

/** In the address, so that it can be linked to and outlives a reload. */
function useFilter(): { filter: Filter; change: (changed: Partial<Filter>) => void } {
  const { machine, token, type } = useSearch({ strict: false });
  const navigate = useNavigate();
  const kind = Object.keys(KINDS).find((one) => one === type) as Filter["type"];
  const filter: Filter = { machine, token, type: kind };
  const change = (changed: Partial<Filter>) =>
    void navigate({
      to: "/settings/$part",
      params: { part: "record" },
      search: { ...filter, ...changed },
      replace: true,
      resetScroll: false,
    });
  return { filter, change };
}

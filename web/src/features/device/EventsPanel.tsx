/** What a machine reports by itself: its last events, the newest first, and new ones as they come. */
import { useQuery } from "../../data/query.ts";
import "../../ui/mantine-rest.css";
import { Text } from "@mantine/core";
import { api } from "../../relay/api.ts";
import { plural } from "../../ui/format.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { Status } from "../../ui/Status.tsx";
import { EventItem } from "./EventItem.tsx";
import classes from "./Events.module.css";

/** How often they are looked at while the page is seen, in milliseconds. */
const LOOK_EVERY = 5_000;

export function EventsPanel({ device }: { device: string }) {
  const query = useQuery({
    queryKey: ["events", device],
    queryFn: () => api("GET /v1/devices/{device}/events", { path: { device } }),
    refetchInterval: LOOK_EVERY,
  });
  const open = query.data?.events.filter((event) => event.open).length ?? 0;
  return (
    <Panel title="Events" actions={open > 0 && <Status tone="bad">{plural(open, "open alert")}</Status>}>
      <Loaded query={query}>
        {({ events, dropped }) => (
          <>
            {dropped > 0 && <Dropped count={dropped} />}
            {events.length === 0 && !query.error && <Text size="sm">Nothing has been reported yet.</Text>}
            {/* What was there before is not read out. */}
            <ul className={classes.list} aria-label="Events" aria-live="polite" aria-relevant="additions">
              {events.toReversed().map((event) => (
                <EventItem key={event.id} event={event} />
              ))}
            </ul>
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function Dropped({ count }: { count: number }) {
  return (
    <Text size="sm" c="dimmed">
      {plural(count, "newer one was", "newer ones were")} dropped: too many came at once.
    </Text>
  );
}

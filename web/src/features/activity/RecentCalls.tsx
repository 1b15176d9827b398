/** The latest calls of one machine, those that run included; older ones by pages. Calls that only read leave no record. */
import { useInfiniteQuery } from "../../data/query.ts";
import "../../ui/mantine-rest.css";
import { Button, Text } from "@mantine/core";
import type { ListedCall } from "@matrx/shared/api.ts";
import { Link } from "@tanstack/react-router";
import { api } from "../../relay/api.ts";
import { useLive } from "../../relay/live.ts";
import { ago } from "../../ui/format.ts";
import { Panel } from "../../ui/Panel.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { Status } from "../../ui/Status.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { Waiting } from "../../ui/Waiting.tsx";
import type { EndedCall } from "./calls.ts";
import classes from "./RecentCalls.module.css";
import { useRecordedDetails } from "./use-record.ts";
import { useWatching } from "./use-watching.ts";
import { makerName, stateWords } from "./words.ts";

const PAGE = 10;
/** How often they are looked at while the page is seen, in milliseconds. */
const LOOK_EVERY = 10_000;

export function RecentCalls({ device }: { device: string }) {
  useWatching();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ["calls", device],
    queryFn: ({ pageParam: before }) =>
      api("GET /v1/devices/{device}/calls", {
        path: { device },
        query: { limit: PAGE, ...(before !== undefined && { before }) },
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: LOOK_EVERY,
  });
  // How the app's pages ask how loaded a machine is: each would come and go again.
  const calls = data?.pages.flatMap((page) => page.calls.filter(({ tool }) => tool !== "SystemInfo"));
  const known = useRecordedDetails(device, calls?.[0]);
  return (
    <Panel title="Recent calls" actions={<Link to="/activity">All activity</Link>}>
      {error && <Problem error={error} retry={() => void refetch()} />}
      {!calls && !error && <Waiting />}
      {calls?.length === 0 && !error && (
        <Text size="sm">Nothing that changes something was called here yet.</Text>
      )}
      <ul className={classes.list} aria-label="Recent calls">
        {calls?.map((call) => (
          <RecentCall key={call.call} call={call} known={known.get(call.call)} />
        ))}
      </ul>
      {hasNextPage && (
        <Button mt="sm" variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show older calls
        </Button>
      )}
    </Panel>
  );
}

function RecentCall({ call: listed, known }: { call: ListedCall; known: EndedCall | undefined }) {
  const { call, device, tool, created, approval } = listed;
  const running = useLive((live) => live.running.get(call));
  const { tone, text } = stateWords(listed, known?.exit);
  const maker = known?.maker ?? running?.grant;
  const about = [parameterOf(known?.input ?? running?.input) ?? approval?.summary, maker && makerName(maker)]
    .filter(Boolean)
    .join(" · ");
  return (
    <li>
      <Link to="/d/$device/calls/$call" params={{ device, call }} className={classes.call}>
        <code>{visibleLine(tool)}</code>
        {about && (
          <span className={classes.about}>
            <bdi>{visibleLine(about)}</bdi>
          </span>
        )}
        <span className={classes.end}>
          <time dateTime={created} title={new Date(created).toLocaleString()}>
            {ago(created)}
          </time>
          <Status tone={tone}>{text}</Status>
        </span>
      </Link>
    </li>
  );
}

/** What tells most of a call, by its name. */
const TELLING = ["command", "file_path", "path", "url", "pattern"];

function parameterOf(input: Readonly<Record<string, string>> = {}): string | undefined {
  const name = TELLING.find((one) => Object.hasOwn(input, one)) ?? Object.keys(input)[0];
  return name === undefined ? undefined : input[name];
}

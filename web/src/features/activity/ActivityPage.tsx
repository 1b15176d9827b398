/** What happens on all machines: what needs the person first, then calls that run, then those that are over. */
import "../../ui/mantine-rest.css";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo, useRef } from "react";
import { useLive, waiting } from "../../relay/live.ts";
import { Page } from "../../ui/Page.tsx";
import { CancelAll } from "./CancelAll.tsx";
import { isError, liveCalls, mergedCalls } from "./calls.ts";
import { EndedCalls } from "./EndedCalls.tsx";
import classes from "./Feed.module.css";
import { FeedNote } from "./FeedNote.tsx";
import { Filters } from "./Filters.tsx";
import { NeedsYou } from "./NeedsYou.tsx";
import { RunningCalls } from "./RunningCalls.tsx";
import { PauseState, StopSwitch } from "./StopSwitch.tsx";
import { useRecordedCalls } from "./use-record.ts";
import { useApprovalsAnyway, useWatching } from "./use-watching.ts";

const route = getRouteApi("/activity");

export function ActivityPage() {
  useWatching();
  useApprovalsAnyway();
  const { show = "all" } = route.useSearch();
  const record = useRecordedCalls();
  const entries = useLive((live) => live.ended);
  const running = useLive((live) => live.running);
  const waits = useLive((live) => waiting(live).length);
  const ended = useMemo(() => mergedCalls(liveCalls(entries), record.calls), [entries, record.calls]);
  const errors = useMemo(() => ended.filter(isError), [ended]);
  const above = useRef<HTMLDivElement>(null);
  const counts = { all: undefined, "needs-you": waits, running: running.size, errors: errors.length };
  const isAll = show === "all";
  return (
    <div className={classes.feed}>
      <div ref={above}>
        <Page
          title="Activity"
          about={<PauseState />}
          actions={
            <>
              <CancelAll count={running.size + waits} />
              <StopSwitch />
            </>
          }
        >
          <div>
            <FeedNote />
            <Filters counts={counts} />
          </div>
        </Page>
      </div>
      {(isAll || show === "needs-you") && <NeedsYou above={above} isAlone={!isAll} />}
      {(isAll || show === "running") && <RunningCalls calls={[...running.values()]} isAlone={!isAll} />}
      {(isAll || show === "errors") && (
        <EndedCalls calls={isAll ? ended : errors} isErrors={!isAll} record={record} />
      )}
    </div>
  );
}

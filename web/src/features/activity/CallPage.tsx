/** The record of one call: who made it, how it stands, what came of it. One that runs is followed. */
import "../../ui/mantine-rest.css";
import { Text } from "@mantine/core";
import type { ActivityEntry } from "@matrx/shared/activity.ts";
import { getRouteApi } from "@tanstack/react-router";
import { LOCAL_DEVICE } from "../../direct/local.ts";
import { NotThroughHere } from "../../machine/NotThroughHere.tsx";
import { ApiError } from "../../relay/api-error.ts";
import { useLive } from "../../relay/live.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { Page } from "../../ui/Page.tsx";
import { CallRecord } from "./CallRecord.tsx";
import { type EndedCall, liveCalls, recordedCall } from "./calls.ts";
import { EndedCallItem } from "./EndedCall.tsx";
import classes from "./Feed.module.css";
import { useMachineName } from "./names.ts";
import { useCallRecord } from "./use-call-record.ts";
import { useKnown } from "./use-record.ts";
import { useWatching } from "./use-watching.ts";
import { callName } from "./words.ts";

const route = getRouteApi("/d/$device/calls/$call");

export function CallPage() {
  const { device, call } = route.useParams();
  if (device === LOCAL_DEVICE)
    return (
      <Page title="A call on this computer">
        <NotThroughHere>
          Calls that are made directly are in no record but this computer's own. The relay has one of the
          calls that go through it.
        </NotThroughHere>
      </Page>
    );
  return <RelayCallPage device={device} call={call} />;
}

function RelayCallPage({ device, call }: { device: string; call: string }) {
  useWatching();
  const machine = useMachineName()(device);
  const query = useCallRecord(device, call);
  const { known, entry } = useKnown(device, call, query.data?.state);
  const told = useLive((live) => live.ended.find((one) => one.call === call));
  const tool = query.data?.tool ?? entry?.tool ?? told?.tool ?? "";
  const isGone = query.error instanceof ApiError && query.error.status === 404;
  return (
    <Page title={callName(tool, machine)} about={`Call ${call}`}>
      {isGone ? (
        <ShortRecord device={device} call={call} machine={machine} told={told} />
      ) : (
        <Loaded query={query}>
          {(record) => <CallRecord record={record} known={known} machine={machine} />}
        </Loaded>
      )}
    </Page>
  );
}

interface ShortProps {
  readonly device: string;
  readonly call: string;
  readonly machine: string;
  /** As it was told when it ended, if this page was there. */
  readonly told: ActivityEntry | undefined;
}

/** Of what only read, or was refused, there is an entry in the account's record at the most. */
function ShortRecord({ device, call, machine, told }: ShortProps) {
  const { query } = useKnown(device, call, undefined);
  const [ended] = told ? liveCalls([told]) : [];
  if (ended) return <Short call={ended} machine={machine} />;
  return (
    <Loaded query={query}>
      {(entry) => {
        const recorded = entry ? recordedCall(entry) : undefined;
        if (recorded) return <Short call={recorded} machine={machine} />;
        return (
          <Text size="sm">There is no record of this call: it only read, was refused, or is long over.</Text>
        );
      }}
    </Loaded>
  );
}

function Short({ call, machine }: { call: EndedCall; machine: string }) {
  return (
    <>
      <Text size="sm">
        Its answer is not kept: the call only read, was refused, or is long over. This is what is known of it.
      </Text>
      <ul className={classes.list} aria-label="What is known of it">
        <EndedCallItem call={call} machine={machine} isOnly />
      </ul>
    </>
  );
}

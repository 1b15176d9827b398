/** The record of one call: who made it, how it stands, what came of it. One that runs is followed. */
import "../../app/mantine-rest.css";
import { getRouteApi } from "@tanstack/react-router";
import { ApiError } from "../../relay/api-error.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { Page } from "../../ui/Page.tsx";
import { CallRecord } from "./CallRecord.tsx";
import { recordedCall } from "./calls.ts";
import { EndedCallItem } from "./EndedCall.tsx";
import classes from "./Feed.module.css";
import { useMachineName } from "./names.ts";
import { useCallRecord } from "./use-call-record.ts";
import { useCallEntry } from "./use-record.ts";
import { callName } from "./words.ts";

const route = getRouteApi("/d/$device/calls/$call");

export function CallPage() {
  const { device, call } = route.useParams();
  const machine = useMachineName()(device);
  const query = useCallRecord(device, call);
  const entry = useCallEntry(device, call);
  const tool = query.data?.tool ?? entry.data?.tool ?? "";
  const isGone = query.error instanceof ApiError && query.error.status === 404;
  return (
    <Page title={callName(tool, machine)} about={`Call ${call}`}>
      {isGone ? (
        <Short device={device} call={call} machine={machine} />
      ) : (
        <Loaded query={query}>
          {(record) => <CallRecord record={record} entry={entry.data ?? undefined} machine={machine} />}
        </Loaded>
      )}
    </Page>
  );
}

/** Of what only read, or was refused, there is an entry in the account's record at the most. */
function Short({ device, call, machine }: { device: string; call: string; machine: string }) {
  const entry = useCallEntry(device, call);
  return (
    <Loaded query={entry}>
      {(found) => {
        const ended = found ? recordedCall(found) : undefined;
        return (
          <>
            <p>
              {ended
                ? "Its answer is not kept: the call only read, was refused, or is long over. This is what the record has of it."
                : "There is no record of this call: it only read, was refused, or is long over."}
            </p>
            {ended && (
              <ul className={classes.list}>
                <EndedCallItem call={ended} machine={machine} />
              </ul>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

/** The record of a call, read again until the call is over. */
import { useEffect, useState } from "react";
import { queryClient, useQuery } from "../../data/query.ts";
import { api } from "../../relay/api.ts";
import type { CallAnswer, CallEvent } from "../../relay/call-events.ts";
import { hearCall, isOver } from "../../relay/known-call.ts";
import type { Answer } from "../../relay/routes.ts";

export type CallRecordView = Answer<"GET /v1/devices/{device}/calls/{call}">;

/** In milliseconds. */
const LOOK_EVERY = 2_000;
/** How much of the live output is shown, in characters. */
const SHOWN = 64 * 1024;

function keyOf(device: string, call: string) {
  return ["call", device, call];
}

export function useCallRecord(device: string, call: string) {
  const path = { device, call };
  return useQuery({
    queryKey: keyOf(device, call),
    queryFn: () => api("GET /v1/devices/{device}/calls/{call}", { path }),
    refetchInterval: ({ state: { data } }) => (data && !isOver(data) ? LOOK_EVERY : false),
  });
}

/** The output of a call that runs, from now on. Leaving a read could end it, so only others are followed. */
export function useLiveOutput({ device, call }: CallRecordView, isFollowed: boolean): string {
  const [output, setOutput] = useState("");
  useEffect(() => {
    if (!isFollowed) return;
    const leaving = new AbortController();
    const add = (text: string) => setOutput((before) => (before + text).slice(-SHOWN));
    // When its connection breaks, the record is still read every few seconds.
    void follow(device, call, leaving.signal, add).catch(() => undefined);
    return () => leaving.abort();
  }, [device, call, isFollowed]);
  return output;
}

async function follow(device: string, call: string, signal: AbortSignal, add: (text: string) => void) {
  const take = (event: CallEvent) => {
    if (event.type === "output") add(event.data);
    else if (event.type === "gap") add("\n[some output was left out]\n");
  };
  const answer = await hearCall({ device, call }, take, signal);
  if (answer) await queryClient.invalidateQueries({ queryKey: keyOf(device, call) });
}

/** The outcome of a call that only the machine keeps. Throws ApiError. */
export function outcomeAtMachine(device: string, call: string): Promise<CallAnswer | undefined> {
  return hearCall({ device, call }, () => undefined);
}

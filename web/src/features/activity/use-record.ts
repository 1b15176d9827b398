/** Calls from before this page looked: the account's record, a page at a time. */

import type { ListedCall } from "@matrx/shared/api.ts";
import type { Effect } from "@matrx/shared/effects.ts";
import { keepPreviousData } from "@tanstack/react-query";
import { useMemo } from "react";
import { useInfiniteQuery, useQuery } from "../../data/query.ts";
import { api } from "../../relay/api.ts";
import { useLive } from "../../relay/live.ts";
import { type AuditCall, type AuditEntry, type EndedCall, type Maker, recordedCall } from "./calls.ts";

const PAGE = 100;
/** When the record is read again, in milliseconds. */
const SOON = 2_000;
const LATER = 30_000;

export function useRecordedCalls() {
  const query = useInfiniteQuery({
    queryKey: ["record of calls"],
    queryFn: ({ pageParam: before }) =>
      api("GET /v1/audit", { query: { limit: PAGE, ...(before !== undefined && { before }) } }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: ({ state: { data, dataUpdateCount } }) => {
      // What ended just before this page looked comes into the record a little later.
      if (dataUpdateCount < 3) return SOON;
      return data && data.pages.length > 1 ? false : LATER;
    },
  });
  const calls = useMemo(
    () => query.data?.pages.flatMap(({ entries }) => entries.flatMap(endedIn)) ?? [],
    [query.data],
  );
  return { ...query, calls };
}

/** How many of a machine's latest calls are searched for one. */
const SEARCHED = 300;
/** How often one that is not there yet is looked for, in milliseconds. */
const LOOK_EVERY = 5_000;

/** What is known of a call besides its own record. */
export interface Known {
  readonly maker: Maker;
  readonly effect: Effect;
  readonly input: Readonly<Record<string, string>>;
  readonly exit?: number | undefined;
  readonly ms?: number | undefined;
}

/**
 * Who made a call, with which parameters: as it was told live, or as the account's record has it. `stage`: something that
 * changes when the record may say more. `entry` is null if the call is not among the latest.
 */
export function useKnown(device: string, call: string, stage: string | undefined) {
  const running = useLive((live) => live.running.get(call));
  const query = useQuery({
    queryKey: ["record of a call", device, call, stage],
    queryFn: async () => {
      const { entries } = await api("GET /v1/audit", { query: { device, limit: SEARCHED } });
      return entries.filter(isCall).find((entry) => entry.call === call) ?? null;
    },
    placeholderData: keepPreviousData,
    // Calls that only read come into the record a little later.
    refetchInterval: ({ state: { data } }) => (data === null ? LOOK_EVERY : false),
  });
  const entry = query.data ?? undefined;
  const known: Known | undefined = entry
    ? {
        maker: { id: entry.by?.grant ?? "", name: entry.by?.name },
        effect: entry.effect,
        input: entry.input ?? {},
        ...(entry.type === "call" && { exit: entry.exit, ms: entry.ms }),
      }
    : running && { maker: running.grant, effect: running.effect, input: running.input };
  return { query, entry: query.data, known };
}

/** What the account's record says of a machine's latest calls, by id; read again when `newest` is another, or stands otherwise. */
export function useRecordedDetails(
  device: string,
  newest: ListedCall | undefined,
): ReadonlyMap<string, EndedCall> {
  const { data } = useQuery({
    queryKey: ["record of a machine", device, newest?.call, newest?.state],
    queryFn: () => api("GET /v1/audit", { query: { device, limit: SEARCHED } }),
    // Without a call there is nothing to tell of.
    enabled: newest !== undefined,
    placeholderData: keepPreviousData,
  });
  return useMemo(() => new Map(data?.entries.flatMap(endedIn).map((call) => [call.call, call])), [data]);
}

function isCall(entry: AuditEntry): entry is AuditCall {
  return entry.type === "call" || entry.type === "denied";
}

function endedIn(entry: AuditEntry): EndedCall[] {
  const call = recordedCall(entry);
  return call ? [call] : [];
}

/** Calls from before this page looked: the account's record, a page at a time. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api } from "../../relay/api.ts";
import { type AuditCall, type EndedCall, recordedCall } from "./calls.ts";

const PAGE = 100;

export function useRecordedCalls() {
  const query = useInfiniteQuery({
    queryKey: ["record of calls"],
    queryFn: ({ pageParam: before }) =>
      api("GET /v1/audit", { query: { limit: PAGE, ...(before !== undefined && { before }) } }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  });
  const calls = useMemo(
    () => query.data?.pages.flatMap(({ entries }) => entries.flatMap(endedIn)) ?? [],
    [query.data],
  );
  return { ...query, calls };
}

/** How many of a machine's latest calls are searched for one. */
const SEARCHED = 300;

/** What the record says of one call: who made it, with which parameters. Undefined: it is not among the latest. */
export function useCallEntry(device: string, call: string) {
  return useQuery({
    queryKey: ["record of calls", device, call],
    queryFn: async () => {
      const { entries } = await api("GET /v1/audit", { query: { device, limit: SEARCHED } });
      const found = entries.filter(
        (entry): entry is AuditCall => "call" in entry && entry.call === call && isCall(entry),
      );
      return found.find(({ input }) => input !== undefined) ?? found[0] ?? null;
    },
  });
}

function isCall({ type }: { type: string }): boolean {
  return type === "call" || type === "denied";
}

function endedIn(entry: Parameters<typeof recordedCall>[0]): EndedCall[] {
  const call = recordedCall(entry);
  return call ? [call] : [];
}

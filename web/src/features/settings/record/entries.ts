/** The account's record, a page at a time, the newest entry first. */
import { useInfiniteQuery } from "../../../data/query.ts";
import { api } from "../../../relay/api.ts";
import type { Answer } from "../../../relay/routes.ts";

export type Entry = Answer<"GET /v1/audit">["entries"][number];
export type EntryType = Entry["type"];

export interface Filter {
  /** A machine's id. */
  readonly machine?: string | undefined;
  /** A token's id. */
  readonly token?: string | undefined;
  readonly type?: EntryType | undefined;
}

const PAGE = 50;

export function useEntries(filter: Filter) {
  return useInfiniteQuery({
    queryKey: ["record", filter],
    queryFn: ({ pageParam }) =>
      api("GET /v1/audit", {
        query: { ...queryOf(filter), limit: PAGE, ...(pageParam !== undefined && { before: pageParam }) },
      }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  });
}

/** As the relay takes it. */
export function queryOf({ machine, token, type }: Filter) {
  return {
    ...(machine !== undefined && { device: machine }),
    ...(token !== undefined && { grant: token }),
    ...(type !== undefined && { type }),
  };
}

export function isFiltered(filter: Filter): boolean {
  return Object.keys(queryOf(filter)).length > 0;
}

/**
 * What single pages read from the relay: kept while it may be shown again, and asked anew when somebody looks. Pages take these
 * hooks instead of the library's, which would need a provider around the app, and so the library in the first load.
 */
import {
  type InfiniteData,
  type QueriesOptions,
  type QueriesResults,
  type Query,
  QueryClient,
  type QueryKey,
  type UseInfiniteQueryOptions,
  type UseInfiniteQueryResult,
  type UseQueryOptions,
  type UseQueryResult,
  useInfiniteQuery as useInfiniteQueryOf,
  useQueries as useQueriesOf,
  useQuery as useQueryOf,
} from "@tanstack/react-query";
import { onForget } from "../base/tab-store.ts";
import { ApiError } from "../relay/api-error.ts";
import { useConnection } from "../relay/connection.ts";
import { isOnline } from "../ui/device-words.ts";
import { onDevices } from "./devices.ts";

/** What was read is taken for true for so long, in milliseconds. */
const FRESH = 5_000;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH,
      // What the relay refuses, it refuses again; a lost network is the connection's to notice.
      retry: (count, error) => error instanceof ApiError && error.status >= 500 && count < 2,
      networkMode: "always",
    },
  },
});

// Whoever comes back to the page sees what holds now.
queryClient.mount();

export function useQuery<T, D = T, K extends QueryKey = QueryKey>(
  options: UseQueryOptions<T, Error, D, K>,
): UseQueryResult<D> {
  return useQueryOf(options, queryClient);
}

export function useQueries<T extends unknown[]>(options: {
  queries: readonly [...QueriesOptions<T>];
}): QueriesResults<T> {
  return useQueriesOf(options, queryClient);
}

export function useInfiniteQuery<T, K extends QueryKey, P>(
  options: UseInfiniteQueryOptions<T, Error, InfiniteData<T, P>, K, P>,
): UseInfiniteQueryResult<InfiniteData<T, P>> {
  return useInfiniteQueryOf(options, queryClient);
}

// What was read before the connection was lost may be old; what the page read just now, while it connected, is not.
useConnection.subscribe(({ state }, before) => {
  if (state !== "online" || before.state === "online") return;
  const wasLost = before.state === "reconnecting";
  const now = Date.now();
  const predicate = ({ state: { status, dataUpdatedAt } }: Query) =>
    wasLost || status === "error" || now - dataUpdatedAt > FRESH;
  void queryClient.invalidateQueries({ predicate }, { cancelRefetch: wasLost });
});

// What a machine could not answer while it was away is asked again as soon as it is back.
onDevices(({ data }) => {
  const back = new Set<unknown>(data?.devices.filter(isOnline).map(({ id }) => id));
  void queryClient.invalidateQueries({
    predicate: ({ queryKey, state }) => isOffline(state.error) && queryKey.some((part) => back.has(part)),
  });
});

function isOffline(error: Error | null): boolean {
  return error !== null && "code" in error && error.code === "DEVICE_OFFLINE";
}

onForget(() => queryClient.removeQueries());

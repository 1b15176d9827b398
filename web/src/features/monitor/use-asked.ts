/** What a tool that only reads tells, asked again and again while somebody looks. */
import { keepPreviousData } from "@tanstack/react-query";
import { useQuery } from "../../app/query.ts";
import type { DeviceLink } from "../../relay/streams/device-link.ts";
import { useIsSeen } from "../../ui/use-is-seen.ts";

/** Each time is a call, and an entry of the record: not as often as samples, which come by one call. In milliseconds. */
const LEAST_MS = 10_000;

interface Asked<T> {
  readonly link: DeviceLink | undefined;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly read: (metadata: unknown) => T;
  /** Otherwise it is asked once. */
  readonly isFollowed: boolean;
  readonly everyMs: number;
}

export function useAsked<T>({ link, tool, input, read, isFollowed, everyMs }: Asked<T>) {
  const isSeen = useIsSeen();
  return useQuery({
    queryKey: ["asked", link?.device, tool, input],
    queryFn: async ({ signal }) => read((await link?.call(tool, input, { signal }))?.metadata),
    enabled: link !== undefined,
    placeholderData: keepPreviousData,
    refetchInterval: isFollowed && isSeen && Math.max(everyMs, LEAST_MS),
    retry: false,
  });
}

/** What a tool that only reads tells, asked again and again while somebody looks. */
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import { useQuery } from "../../data/query.ts";
import type { DeviceLink } from "../../relay/streams/device-link.ts";
import { isLasting } from "../../relay/streams/retry.ts";
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

/** Also tells whether a call waits for approval, and whether one did: then no further one is made by itself. */
export function useAsked<T>({ link, tool, input, read, isFollowed, everyMs }: Asked<T>) {
  const isSeen = useIsSeen();
  const [needsApproval, setNeedsApproval] = useState(false);
  /** The call that waits, by its signal. */
  const [waiting, setWaiting] = useState<AbortSignal>();
  const query = useQuery({
    queryKey: ["asked", link?.device, tool, input],
    queryFn: async ({ signal }) => {
      const onApproval = () => {
        setNeedsApproval(true);
        setWaiting(signal);
      };
      try {
        return read((await link?.call(tool, input, { signal, onApproval }))?.metadata);
      } finally {
        setWaiting((now) => (now === signal ? undefined : now));
      }
    },
    // What was refused once is not asked for again and again, nor is a person.
    enabled: ({ state: { data, error } }) =>
      link !== undefined && !isLasting(error) && !(needsApproval && data !== undefined),
    placeholderData: keepPreviousData,
    refetchInterval: isFollowed && isSeen && Math.max(everyMs, LEAST_MS),
    retry: false,
  });
  return { query, isWaiting: waiting !== undefined, needsApproval };
}

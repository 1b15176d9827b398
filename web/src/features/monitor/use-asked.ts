/** What a tool that only reads tells, asked again and again while somebody looks. */
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import type { Input } from "../../calls/call-tool.ts";
import { useTool } from "../../calls/use-tool.ts";
import { useQuery } from "../../data/query.ts";
import { isLasting } from "../../relay/streams/retry.ts";
import { useIsSeen } from "../../ui/use-is-seen.ts";

/** Each time is a call, and an entry of the record: not as often as samples, which come by one call. In milliseconds. */
const LEAST_MS = 10_000;

interface Asked<T> {
  readonly device: string;
  readonly tool: string;
  readonly input: Input;
  readonly read: (metadata: unknown) => T;
  /** Otherwise it is asked once. */
  readonly isFollowed: boolean;
  readonly everyMs: number;
}

/** Also tells whether a call waits for approval, and whether one did: then no further one is made by itself. */
export function useAsked<T>({ device, tool: name, input, read, isFollowed, everyMs }: Asked<T>) {
  const isSeen = useIsSeen();
  const [needsApproval, setNeedsApproval] = useState(false);
  const { run, isAsked } = useTool(
    device,
    { name, effect: "read" },
    ({ metadata }) => read(metadata),
    () => setNeedsApproval(true),
  );
  const query = useQuery({
    queryKey: ["asked", device, name, input],
    queryFn: ({ signal }) => run(input, signal),
    // What was refused once is not asked for again and again, nor is a person.
    enabled: ({ state: { data, error } }) => !isLasting(error) && !(needsApproval && data !== undefined),
    placeholderData: keepPreviousData,
    refetchInterval: isFollowed && isSeen && Math.max(everyMs, LEAST_MS),
    retry: false,
  });
  return { query, isWaiting: isAsked, needsApproval };
}

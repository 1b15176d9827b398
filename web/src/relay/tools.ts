/** The tools of a machine, kept in this browser: an app that starts offline shows them as they were. */
import { useQuery } from "@tanstack/react-query";
import { lastKnown, remember } from "../app/last-known.ts";
import { LOCAL_DEVICE, useDirect } from "../direct/local.ts";
import { type DeviceTools, readTools } from "./way.ts";

export type Tool = DeviceTools["tools"][number];

/** Longer lists would crowd out what else is kept, in characters. */
const MOST_KEPT = 200_000;

export function useTools(device: string) {
  // This computer is asked when it is there; the relay knows the tools of machines that are not.
  const isReachable = useDirect(({ state }) => device !== LOCAL_DEVICE || state === "online");
  const last = lastKnown<DeviceTools>(`tools:${device}`);
  return useQuery({
    queryKey: ["tools", device],
    queryFn: () => readAndKeep(device),
    enabled: isReachable,
    ...(last && { initialData: last.value, initialDataUpdatedAt: last.at }),
  });
}

async function readAndKeep(device: string): Promise<DeviceTools> {
  const tools = await readTools(device);
  if (JSON.stringify(tools).length <= MOST_KEPT) remember(`tools:${device}`, tools);
  return tools;
}

/** The tools of a machine, kept in this browser: an app that starts offline shows them as they were. */

import { lastKnown, remember } from "../app/last-known.ts";
import { useQuery } from "../app/query.ts";
import { api } from "./api.ts";
import type { Answer } from "./routes.ts";

type Tools = Answer<"GET /v1/devices/{device}/tools">;
export type Tool = Tools["tools"][number];

/** Longer lists would crowd out what else is kept, in characters. */
const MOST_KEPT = 200_000;

export function useTools(device: string) {
  const last = lastKnown<Tools>(`tools:${device}`);
  return useQuery({
    queryKey: ["tools", device],
    queryFn: () => readTools(device),
    ...(last && { initialData: last.value, initialDataUpdatedAt: last.at }),
  });
}

async function readTools(device: string): Promise<Tools> {
  const tools = await api("GET /v1/devices/{device}/tools", { path: { device } });
  if (JSON.stringify(tools).length <= MOST_KEPT) remember(`tools:${device}`, tools);
  return tools;
}

/** The tools of a machine, kept in this browser: an app that starts offline shows them as they were. */
import { queryOptions } from "@tanstack/react-query";
import { lastKnown, remember } from "../base/last-known.ts";
import { readDirectly } from "../direct/connection.ts";
import { LOCAL_DEVICE, useDirect } from "../direct/local.ts";
import { api } from "../relay/api.ts";
import type { Answer } from "../relay/routes.ts";
import { fits } from "../relay/shapes.ts";
import { isSchema } from "../ui/schema/schema.ts";
import { useQuery } from "./query.ts";

type DeviceTools = Answer<"GET /v1/devices/{device}/tools">;

export type Tool = DeviceTools["tools"][number];

/** Longer lists would crowd out what else is kept, in characters. */
const MOST_KEPT = 200_000;

export function useTools(device: string) {
  // This computer is asked when it is there; the relay knows the tools of machines that are not.
  const isReachable = useDirect(({ state }) => device !== LOCAL_DEVICE || state === "online");
  return useQuery({ ...toolsQuery(device), queryFn: () => readAndKeep(device), enabled: isReachable });
}

/** The query of a machine's tools. What it reads is not kept: those of all machines would crowd out what else is. */
export function toolsQuery(device: string) {
  const last = lastKnown(`tools:${device}`, (kept) => fits("GET /v1/devices/{device}/tools", kept));
  return queryOptions({
    queryKey: ["tools", device],
    queryFn: () => readUsable(device),
    ...(last && { initialData: last.value, initialDataUpdatedAt: last.at }),
  });
}

/** As it last told them. Throws ApiError. */
function readTools(device: string): Promise<DeviceTools> {
  if (device === LOCAL_DEVICE) return readDirectly("/tools");
  return api("GET /v1/devices/{device}/tools", { path: { device } });
}

async function readUsable(device: string): Promise<DeviceTools> {
  const { tools: told, ...rest } = await readTools(device);
  // A form is made of any schema, but of nothing else.
  return {
    ...rest,
    tools: told.map((tool) => (isSchema(tool.input_schema) ? tool : { ...tool, input_schema: {} })),
  };
}

async function readAndKeep(device: string): Promise<DeviceTools> {
  const tools = await readUsable(device);
  if (JSON.stringify(tools).length <= MOST_KEPT) remember(`tools:${device}`, tools);
  return tools;
}

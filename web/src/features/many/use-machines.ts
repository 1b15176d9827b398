/** The chosen machines with their tools, and what their owners let this person do. */
import type { DeviceView } from "@matrx/shared/api.ts";
import { useDevices } from "../../data/devices.ts";
import { useQueries } from "../../data/query.ts";
import { type Tool, toolsQuery } from "../../data/tools.ts";
import { api } from "../../relay/api.ts";
import type { Answer } from "../../relay/routes.ts";

export type Rights = Answer<"POST /v1/devices/{device}/policy/explain">;

export interface Machine {
  readonly id: string;
  readonly name: string;
  /** Undefined: it is none of this account's. */
  readonly view: DeviceView | undefined;
  /** Undefined: they could not be read. */
  readonly tools: readonly Tool[] | undefined;
}

/** Undefined: not read yet. */
export function useMachines(ids: readonly string[]): readonly Machine[] | undefined {
  const { data } = useDevices();
  const known = ids.filter((id) => data?.devices.some((device) => device.id === id));
  const queries = useQueries({ queries: known.map(toolsQuery) });
  if (!data || queries.some(({ isPending }) => isPending)) return undefined;
  return ids.map((id) => {
    const view = data.devices.find((device) => device.id === id);
    return { id, name: view?.name ?? id, view, tools: queries[known.indexOf(id)]?.data?.tools };
  });
}

/** Rules change rarely, and each machine decides anew when it is called, in milliseconds. */
const RIGHTS_STALE_AFTER = 60_000;

/** What rules say about a tool, by machine, as far as that was read. */
export function useRights(tool: string, devices: readonly string[]): ReadonlyMap<string, Rights> {
  const queries = useQueries({
    queries: devices.map((device) => ({
      queryKey: ["explain", device, "", tool, ""],
      queryFn: () => api("POST /v1/devices/{device}/policy/explain", { path: { device }, body: { tool } }),
      staleTime: RIGHTS_STALE_AFTER,
      retry: false,
    })),
  });
  return new Map(
    devices.flatMap((device, at) => {
      const rights = queries[at]?.data;
      return rights ? [[device, rights] as const] : [];
    }),
  );
}

/** The tools of a machine, kept in this browser: an app that starts offline shows them as they were. */
import { useQuery } from "@tanstack/react-query";
import { lastKnown, remember } from "../app/last-known.ts";
import { isSchema } from "../ui/schema/schema.ts";
import { api } from "./api.ts";
import type { Answer } from "./routes.ts";
import { fits } from "./shapes.ts";

const LINE = "GET /v1/devices/{device}/tools";
type Tools = Answer<typeof LINE>;
export type Tool = Tools["tools"][number];

/** Longer lists would crowd out what else is kept, in characters. */
const MOST_KEPT = 200_000;

export function useTools(device: string) {
  const last = lastKnown(`tools:${device}`, (kept) => fits(LINE, kept));
  return useQuery({
    queryKey: ["tools", device],
    queryFn: () => readTools(device),
    ...(last && { initialData: last.value, initialDataUpdatedAt: last.at }),
  });
}

async function readTools(device: string): Promise<Tools> {
  const { tools: told, ...rest } = await api(LINE, { path: { device } });
  // A form is made of any schema, but of nothing else.
  const tools = {
    ...rest,
    tools: told.map((tool) => (isSchema(tool.input_schema) ? tool : { ...tool, input_schema: {} })),
  };
  if (JSON.stringify(tools).length <= MOST_KEPT) remember(`tools:${device}`, tools);
  return tools;
}

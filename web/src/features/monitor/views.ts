/** What the monitor shows: each is an address, and what a tool tells. */
export const VIEWS = [
  { view: "load", label: "Load", tool: "SystemMetrics" },
  { view: "processes", label: "Processes", tool: "ListProcesses" },
  { view: "connections", label: "Connections", tool: "NetworkConnections" },
] as const;

type View = (typeof VIEWS)[number]["view"];

export function toolOf(view: View): string {
  return VIEWS.find((one) => one.view === view)?.tool ?? "";
}

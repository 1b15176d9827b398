/** What the monitor shows: each is an address. */
export const VIEWS = [
  { view: "load", label: "Load" },
  { view: "processes", label: "Processes" },
  { view: "connections", label: "Connections" },
] as const;

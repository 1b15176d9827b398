/** Machines by the names that people gave them. */
import { useMemo } from "react";
import { useDevices } from "../../relay/devices.ts";
import { visibleLine } from "../../ui/visible-text.ts";

/** The name of a machine; of one that is gone, its id. */
export function useMachineName(): (device: string) => string {
  const { data } = useDevices();
  return useMemo(() => {
    const all = [...(data?.devices ?? []), ...(data?.unreadable ?? [])];
    const names = new Map(all.map(({ id, name }) => [id, visibleLine(name)]));
    return (device) => names.get(device) ?? visibleLine(device);
  }, [data]);
}

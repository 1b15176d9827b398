/** Machines by the names that people gave them. */
import { useMemo } from "react";
import { useDevices } from "../../data/devices.ts";
import { nameInText, visibleLine } from "../../ui/visible-text.ts";

/** The name of a machine; of one that is gone, its id. */
export function useMachineName(): (device: string) => string {
  const { data } = useDevices();
  return useMemo(() => {
    const all = [...(data?.devices ?? []), ...(data?.unreadable ?? [])];
    const names = new Map(all.map(({ id, name }) => [id, nameInText(name)]));
    return (device) => names.get(device) ?? visibleLine(device);
  }, [data]);
}

/** The machines that are this account's own: only they can be given to others. */
import type { DeviceView } from "@matrx/shared/api.ts";
import { useDevices } from "../../data/devices.ts";
import { useCurrentDevice } from "../../shell/use-current-device.ts";
import { visibleLine } from "../../ui/visible-text.ts";

export function useOwnMachines(): readonly DeviceView[] {
  return (useDevices().data?.devices ?? []).filter(({ shared_by: by }) => by === undefined);
}

/** The one at hand, or else the first. */
export function useOwnMachine(): string | undefined {
  const own = useOwnMachines();
  const current = useCurrentDevice();
  return own.some(({ id }) => id === current) ? current : own[0]?.id;
}

/** Gives a machine's name by its id, as long as it is there. */
export function useMachineNames(): (device: string) => string {
  const devices = useDevices().data?.devices ?? [];
  return (id) => visibleLine(devices.find((device) => device.id === id)?.name ?? id);
}

/** Selects all machines that the filter shows, or none of them. */
import type { DeviceView } from "@matrx/shared/api.ts";
import { select, useSelection } from "../many/selection.ts";
import { Tick } from "./Tick.tsx";

export function SelectShown({ shown }: { shown: readonly DeviceView[] }) {
  const ids = useSelection((state) => state.ids);
  if (shown.length === 0) return null;
  const selected = shown.filter(({ id }) => ids.includes(id)).length;
  const isAll = selected === shown.length;
  const others = ids.filter((id) => !shown.some((device) => device.id === id));
  const change = () => select(isAll ? others : [...others, ...shown.map(({ id }) => id)]);
  return (
    <Tick
      label={`Select all ${shown.length} shown`}
      isOn={isAll}
      isMixed={selected > 0 && !isAll}
      change={change}
    >
      Select all {shown.length} shown
    </Tick>
  );
}

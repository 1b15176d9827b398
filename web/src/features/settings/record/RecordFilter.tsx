/** What of the record is shown: by machine, by token, by kind. */
import { NativeSelect } from "@mantine/core";
import { useDevices } from "../../../data/devices.ts";
import { visibleLine } from "../../../ui/visible-text.ts";
import { useTokens } from "../tokens/queries.ts";
import type { EntryType, Filter } from "./entries.ts";
import { KINDS } from "./entry-words.ts";
import classes from "./Record.module.css";

interface Props {
  readonly filter: Filter;
  readonly change: (changed: Partial<Filter>) => void;
}

export function RecordFilter({ filter: { machine, token, type }, change }: Props) {
  const devices = useDevices().data?.devices ?? [];
  const tokens = useTokens().data ?? [];
  return (
    <div className={classes.filter}>
      <NativeSelect
        label="What"
        data={[
          { value: "", label: "Everything" },
          ...Object.entries(KINDS).map(([value, label]) => ({ value, label })),
        ]}
        value={type ?? ""}
        onChange={(event) => change({ type: (event.currentTarget.value || undefined) as EntryType })}
      />
      <NativeSelect
        label="Machine"
        data={choices("All machines", devices, machine)}
        value={machine ?? ""}
        onChange={(event) => change({ machine: event.currentTarget.value || undefined })}
      />
      <NativeSelect
        label="By or about whom"
        data={choices("Everybody", tokens, token)}
        value={token ?? ""}
        onChange={(event) => change({ token: event.currentTarget.value || undefined })}
      />
    </div>
  );
}

/** What was chosen stays a choice, also after it is gone. */
function choices(
  all: string,
  known: readonly { readonly id: string; readonly name: string }[],
  chosen: string | undefined,
) {
  const isGone = chosen !== undefined && !known.some(({ id }) => id === chosen);
  return [
    { value: "", label: all },
    ...known.map(({ id, name }) => ({ value: id, label: visibleLine(name) })),
    ...(isGone ? [{ value: chosen, label: `${chosen} (gone)` }] : []),
  ];
}

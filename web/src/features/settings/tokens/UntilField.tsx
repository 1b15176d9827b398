/** When it ends. */
import { NativeSelect } from "@mantine/core";
import { dateOf } from "../../../ui/format.ts";
import type { FieldProps } from "./fields.ts";

const DAYS = [1, 7, 30, 90, 365];
const DAY = 24 * 60 * 60_000;

interface Props extends FieldProps {
  /** When it ends now; undefined: it is new. */
  readonly expires?: string;
}

export function UntilField({ draft, change, expires }: Props) {
  return (
    <NativeSelect
      label="Ends"
      data={[
        ...(expires ? [{ value: "", label: `As it is: ${dateOf(expires)}` }] : []),
        ...DAYS.map((days) => ({
          value: String(days),
          label: days === 1 ? "Tomorrow" : `In ${days} days: ${dateOf(Date.now() + days * DAY)}`,
        })),
      ]}
      value={draft.days}
      onChange={(event) => change({ days: event.currentTarget.value })}
    />
  );
}

/** How much may be called; absent: the relay's usual rates. */

import { Group, NumberInput } from "@mantine/core";
import type { Policy } from "@matrx/shared/policy.ts";

type Rates = NonNullable<Policy["rates"]>;

interface Props {
  readonly rates: Rates | undefined;
  readonly set: (rates: Rates | undefined) => void;
}

const FIELDS = [
  { name: "calls_per_minute", label: "Calls per minute", max: 1_000_000 },
  { name: "messages_per_second", label: "Messages per second", max: 100_000 },
] as const;

export function RatesField({ rates, set }: Props) {
  const change = (name: keyof Rates, value: number | string) => {
    const { [name]: _before, ...others } = rates ?? {};
    const next = typeof value === "number" ? { ...others, [name]: value } : others;
    set(Object.keys(next).length > 0 ? next : undefined);
  };
  return (
    <Group grow>
      {FIELDS.map(({ name, label, max }) => (
        <NumberInput
          key={name}
          label={label}
          placeholder="usual"
          min={1}
          max={max}
          allowDecimal={false}
          value={rates?.[name] ?? ""}
          onChange={(value) => change(name, value)}
        />
      ))}
    </Group>
  );
}

/** What it is called, wherever it acts. */
import { TextInput } from "@mantine/core";
import type { FieldProps } from "./fields.ts";

interface Props extends FieldProps {
  readonly label?: string;
  readonly description?: string;
  readonly placeholder?: string;
}

export function NameField({ draft, change, label = "Name", ...props }: Props) {
  return (
    <TextInput
      {...props}
      label={label}
      required
      withAsterisk={false}
      maxLength={64}
      autoComplete="off"
      value={draft.name}
      onChange={(event) => change({ name: event.currentTarget.value })}
    />
  );
}

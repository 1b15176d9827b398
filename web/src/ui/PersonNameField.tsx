/** The name under which other people see this one. */
import { TextInput } from "@mantine/core";

export function PersonNameField({ name, change }: { name: string; change: (name: string) => void }) {
  return (
    <TextInput
      label="Your name"
      description="People with whom you share machines see it."
      required
      withAsterisk={false}
      maxLength={64}
      autoComplete="name"
      value={name}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

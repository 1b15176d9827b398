/** Dark, light, or as the system has it. */
import { type MantineColorScheme, Radio, Stack, useMantineColorScheme } from "@mantine/core";
import { Panel } from "../../ui/Panel.tsx";

const SCHEMES = [
  ["auto", "As the system has it"],
  ["light", "Light"],
  ["dark", "Dark"],
] as const;

export function AppearancePart() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Panel>
      <Radio.Group
        label="Colours"
        value={colorScheme}
        onChange={(value) => setColorScheme(value as MantineColorScheme)}
      >
        <Stack gap="xs" mt="xs">
          {SCHEMES.map(([value, label]) => (
            <Radio key={value} value={value} label={label} />
          ))}
        </Stack>
      </Radio.Group>
    </Panel>
  );
}

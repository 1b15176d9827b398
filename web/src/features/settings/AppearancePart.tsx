/** Dark or light, and how large. Both are kept in this browser. */
import { SegmentedControl, Stack, Text, useMantineColorScheme } from "@mantine/core";
import { useState } from "react";
import { chooseSize, chosenSize, type Size } from "../../base/text-size.ts";
import { Panel } from "../../ui/Panel.tsx";

const SCHEMES = [
  { value: "dark", label: "Dark" },
  { value: "light", label: "Light" },
  { value: "auto", label: "As the system" },
] as const;

const SIZES = [
  { value: "compact", label: "Compact" },
  { value: "normal", label: "Normal" },
  { value: "large", label: "Large" },
] as const;

export function AppearancePart() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [size, setSize] = useState(chosenSize);
  const resize = (chosen: Size) => {
    chooseSize(chosen);
    setSize(chosen);
  };
  return (
    <Stack gap="md">
      <Panel title="Colours">
        <SegmentedControl
          fullWidth
          aria-label="Colours"
          data={[...SCHEMES]}
          value={colorScheme}
          onChange={setColorScheme}
        />
        <Text size="sm" c="dimmed" mt="sm">
          “As the system” follows your computer or phone, also when it changes in the evening.
        </Text>
      </Panel>
      <Panel title="Size">
        <SegmentedControl fullWidth aria-label="Size" data={[...SIZES]} value={size} onChange={resize} />
        <Text size="sm" c="dimmed" mt="sm">
          Text and controls, on top of what your browser is set to.
        </Text>
      </Panel>
    </Stack>
  );
}

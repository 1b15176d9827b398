/** What this is, and where its reference is. */
import { Anchor, Text } from "@mantine/core";
import { Panel } from "../../ui/Panel.tsx";

export function AboutPart() {
  return (
    <Panel title="Matrx Relay">
      <Text size="sm" mb="sm">
        Your machines, from anywhere. Licensed under the Apache License 2.0.
      </Text>
      <Text size="sm">
        <Anchor href="/docs">Reference for programs</Anchor>
      </Text>
    </Panel>
  );
}

/** What to run on the machine. */
import { Code, Group, List, Text } from "@mantine/core";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { OnlyHere } from "../../ui/OnlyHere.tsx";
import { Panel } from "../../ui/Panel.tsx";

export function InstallPanel() {
  const command = `npx matrx up --relay ${location.origin}`;
  return (
    <Panel title="1. On the machine">
      <List type="ordered" size="sm" spacing="xs">
        <List.Item>
          Install Node 20 or newer, clone the relay’s repository, and run <Code>npm ci</Code> in it. Without a
          clone, copy the agent’s package there, which <Code>npm run pack</Code> makes where the relay’s
          repository is, and run it as <Code>npx --yes ./matrx-*.tgz</Code> in place of <Code>npx matrx</Code>
          .
        </List.Item>
        <List.Item>
          Run this there:
          <Group gap="xs" mt={4}>
            <Code fz="sm">{command}</Code>
            <CopyButton text={command} />
          </Group>
          <OnlyHere who="Another machine" />
        </List.Item>
      </List>
      <Text size="sm" c="dimmed" mt="sm">
        It shows a code, a link and a QR code. Open the link, scan the QR code with your phone's camera, or
        type the code below.
      </Text>
    </Panel>
  );
}

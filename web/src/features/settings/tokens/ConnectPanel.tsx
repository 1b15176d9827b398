/** How an AI app gets access without any token: by the address of the relay, and this person's yes. */
import { Text } from "@mantine/core";
import { OnlyHere } from "../../../ui/OnlyHere.tsx";
import { Panel } from "../../../ui/Panel.tsx";
import { Secret } from "../Secret.tsx";

export function ConnectPanel() {
  return (
    <Panel
      title="Connect an AI app"
      about="Apps that speak MCP, such as Claude, ChatGPT or Cursor, need no token: give them this address. They send you here to sign in, and you choose what they may do."
    >
      <Secret label="MCP address" text={`${location.origin}/mcp`} isQuiet />
      <OnlyHere who="An app elsewhere" />
      <Text size="sm" c="dimmed" mt="sm">
        The app has to reach this address. It then appears in the list above.
      </Text>
    </Panel>
  );
}

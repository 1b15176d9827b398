/** How the app reaches machines: through the relay, and this computer directly. */
import "../../../ui/mantine-rest.css";
import { Stack } from "@mantine/core";
import { DirectPanel } from "./DirectPanel.tsx";
import { RelayPanel } from "./RelayPanel.tsx";

export function ConnectionPart() {
  return (
    <Stack gap="md">
      <RelayPanel />
      <DirectPanel />
    </Stack>
  );
}

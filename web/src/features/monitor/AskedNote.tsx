/** What stands over a table whose calls somebody has to allow: that one waits, or that the table is not read again by itself. */
import { Button, Group, Text } from "@mantine/core";
import { WaitsForApproval } from "../../ui/WaitsForApproval.tsx";

interface Props {
  readonly isWaiting: boolean;
  readonly needsApproval: boolean;
  readonly readAgain: () => void;
}

export function AskedNote({ isWaiting, needsApproval, readAgain }: Props) {
  if (isWaiting) return <WaitsForApproval>Reading this</WaitsForApproval>;
  if (!needsApproval) return null;
  return (
    <Group gap="xs" mb="xs">
      <Text size="sm">Each look at this needs approval, so it isn't refreshed automatically.</Text>
      <Button size="compact-sm" variant="default" onClick={readAgain}>
        Read it again
      </Button>
    </Group>
  );
}

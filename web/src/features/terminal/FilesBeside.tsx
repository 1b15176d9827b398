/** From the terminals to the files beside them. */
import { ActionIcon } from "@mantine/core";
import { IconFolder } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";

export function FilesBeside({ device }: { device: string }) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size={34}
      aria-label="Files beside"
      title="Files beside"
      renderRoot={(props) => (
        <Link to="/d/$device/files/$" params={{ device }} search={{ terminal: "last" }} {...props} />
      )}
    >
      <IconFolder size={18} aria-hidden />
    </ActionIcon>
  );
}

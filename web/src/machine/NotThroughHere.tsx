/** Says of a page that it needs the relay, and leads there if this computer is known to it. */
import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useDevices } from "../data/devices.ts";
import { useDirect } from "../direct/local.ts";

export function NotThroughHere({ children }: { children: string }) {
  const id = useDirect(({ device }) => device);
  const known = useDevices().data?.devices.find((device) => device.id === id);
  return (
    <Text size="sm">
      {children}{" "}
      {known ? (
        <>
          This computer is also there as{" "}
          <Link to="/d/$device" params={{ device: known.id }}>
            <bdi>{known.name}</bdi>
          </Link>
          .
        </>
      ) : (
        <>
          For that, <Link to="/pair">add this computer</Link> to the relay.
        </>
      )}
    </Text>
  );
}

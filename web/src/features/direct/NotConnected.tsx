/** An address of this computer, while nobody has connected it directly. */
import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Page } from "../../ui/Page.tsx";

export function NotConnected() {
  return (
    <Page title="This computer">
      <Text>
        It is not connected directly. To do that, go to{" "}
        <Link to="/settings/$part" params={{ part: "connection" }}>
          Settings, Connection
        </Link>
        .
      </Text>
    </Page>
  );
}

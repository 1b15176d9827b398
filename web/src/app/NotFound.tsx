/** An address that leads nowhere. */
import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Page } from "../ui/Page.tsx";

export function NotFound() {
  return (
    <Page title="There is nothing here">
      <Text>
        The address leads nowhere. Go to <Link to="/fleet">your machines</Link>.
      </Text>
    </Page>
  );
}

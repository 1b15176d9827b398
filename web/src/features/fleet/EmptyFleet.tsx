/** The first thing that a new account sees. */
import { Button, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Panel } from "../../ui/Panel.tsx";

export function EmptyFleet() {
  return (
    <Panel title="No machines yet">
      <Text size="sm" mb="md">
        Add the computer at home that you want to reach from here. It takes one command on that machine and a
        click in this browser.
      </Text>
      <Button renderRoot={(props) => <Link to="/pair" {...props} />}>Add your first machine</Button>
    </Panel>
  );
}

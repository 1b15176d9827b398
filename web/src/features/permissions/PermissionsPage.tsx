/** What a machine allows: its policy at the relay, in words and to be changed, and what follows for one caller. */
import { useQuery } from "../../data/query.ts";
import "../../ui/mantine-rest.css";
import { Text } from "@mantine/core";
import { useParams } from "@tanstack/react-router";
import { useDevice } from "../../data/devices.ts";
import { useTools } from "../../data/tools.ts";
import { LOCAL_DEVICE } from "../../direct/local.ts";
import { NotThroughHere } from "../../machine/NotThroughHere.tsx";
import { api } from "../../relay/api.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { Page } from "../../ui/Page.tsx";
import { nameInText } from "../../ui/visible-text.ts";
import { PolicyForm } from "./PolicyForm.tsx";
import { WhoMayPanel } from "./WhoMayPanel.tsx";

export function PermissionsPage() {
  const { device } = useParams({ from: "/d/$device/permissions" });
  if (device === LOCAL_DEVICE)
    return (
      <Page title="Permissions of this computer">
        <NotThroughHere>
          Directly, this app acts as you: only the policy file on this computer limits it. What people and AIs
          may do there is decided at the relay.
        </NotThroughHere>
      </Page>
    );
  return <RelayPermissions device={device} />;
}

function RelayPermissions({ device }: { device: string }) {
  const view = useDevice(device);
  const policy = useQuery({
    queryKey: ["policy", device],
    queryFn: () => api("GET /v1/devices/{device}/policy", { path: { device } }),
  });
  const tools = useTools(device);
  // Fields of suggestions refuse to draw one twice.
  const names = [...new Set(tools.data?.tools.map(({ name }) => name))];
  if (view?.shared_by !== undefined)
    return (
      <Page title="Permissions">
        <Text>
          <bdi>{view.shared_by}</bdi> decides what this machine allows.
        </Text>
      </Page>
    );
  return (
    <Page
      title={`Permissions of ${view ? nameInText(view.name) : "this machine"}`}
      about="They hold for everyone who uses this machine, you included. A policy file on the machine itself can be stricter: both apply."
    >
      <Loaded query={policy}>
        {(stored) => <PolicyForm key={device} device={device} stored={stored} tools={names} />}
      </Loaded>
      <WhoMayPanel key={device} device={device} tools={names} />
    </Page>
  );
}

/** What a machine allows: its policy at the relay, in words and to be changed, and what follows for one caller. */
import { useQuery } from "../../app/query.ts";
import "../../app/mantine-rest.css";
import { Text } from "@mantine/core";
import { useParams } from "@tanstack/react-router";
import { api } from "../../relay/api.ts";
import { useDevice } from "../../relay/devices.ts";
import { useTools } from "../../relay/tools.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { Page } from "../../ui/Page.tsx";
import { PolicyForm } from "./PolicyForm.tsx";
import { WhoMayPanel } from "./WhoMayPanel.tsx";

export function PermissionsPage() {
  const { device } = useParams({ from: "/d/$device/permissions" });
  const view = useDevice(device);
  const policy = useQuery({
    queryKey: ["policy", device],
    queryFn: () => api("GET /v1/devices/{device}/policy", { path: { device } }),
  });
  const tools = useTools(device);
  const names = tools.data?.tools.map(({ name }) => name) ?? [];
  if (view?.shared_by !== undefined)
    return (
      <Page title="Permissions">
        <Text>{view.shared_by} decides what this machine allows.</Text>
      </Page>
    );
  return (
    <Page
      title={`Permissions of ${view?.name ?? "this machine"}`}
      about="They hold for everyone who uses this machine, you included. A policy file on the machine itself can be stricter: both apply."
    >
      <Loaded query={policy}>
        {(stored) => <PolicyForm device={device} stored={stored} tools={names} />}
      </Loaded>
      <WhoMayPanel device={device} tools={names} />
    </Page>
  );
}

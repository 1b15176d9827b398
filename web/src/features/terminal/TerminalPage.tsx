/** The terminals of one machine. */
import "../../app/mantine-rest.css";
import "./mantine-terminal.css";
import { Link, useParams } from "@tanstack/react-router";
import { LOCAL_DEVICE } from "../../direct/local.ts";
import { useDevice, useDevices } from "../../relay/devices.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { Page } from "../../ui/Page.tsx";
import { nameInText } from "../../ui/visible-text.ts";
import { NotThroughHere } from "../direct/NotThroughHere.tsx";
import { Workspace } from "./Workspace.tsx";

export function TerminalPage() {
  const { device = "" } = useParams({ strict: false });
  const query = useDevices();
  const view = useDevice(device);
  if (device === LOCAL_DEVICE)
    return (
      <Page title="Terminals">
        <NotThroughHere>Terminals go through the relay, not over the direct connection.</NotThroughHere>
      </Page>
    );
  if (!view)
    return (
      <Page title={query.data ? "No such machine" : "Terminals"}>
        <Loaded query={query}>
          {() => (
            <div>
              It was removed, or is not yours. Go to <Link to="/fleet">your machines</Link>.
            </div>
          )}
        </Loaded>
      </Page>
    );
  const machine = nameInText(view.name);
  if (view.kind === "bare")
    return <Page title={`Terminals of ${machine}`}>Only machines with the Matrx agent have terminals.</Page>;
  return <Workspace key={device} device={device} machine={machine} />;
}

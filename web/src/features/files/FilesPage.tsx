/** A machine's files: the folder and the file that is looked at are in the address. */
import "../../app/mantine-rest.css";
import { Text } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { LOCAL_DEVICE } from "../../direct/local.ts";
import { useDevice, useDevices } from "../../relay/devices.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { Page } from "../../ui/Page.tsx";
import { NotThroughHere } from "../direct/NotThroughHere.tsx";
import { FolderView } from "./FolderView.tsx";
import { pathOf } from "./paths.ts";

export function FilesPage() {
  const { device, _splat = "" } = useParams({ from: "/d/$device/files/$" });
  const view = useDevice(device);
  const query = useDevices();
  if (device === LOCAL_DEVICE)
    return (
      <Page title="Files">
        <NotThroughHere>Files are shown through the relay.</NotThroughHere>
      </Page>
    );
  if (view) return <FolderView key={device} device={view} path={pathOf(_splat)} />;
  return (
    <Page title={query.data ? "No such machine" : "Files"}>
      <Loaded query={query}>
        {() => (
          <Text>
            It was removed, or is not yours. Go to <Link to="/fleet">your machines</Link>.
          </Text>
        )}
      </Loaded>
    </Page>
  );
}

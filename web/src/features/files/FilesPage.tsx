/** A machine's files: the folder and the file that is looked at are in the address. */
import "../../ui/mantine-rest.css";
import { useParams } from "@tanstack/react-router";
import { OfMachine } from "../../machine/OfMachine.tsx";
import { FolderView } from "./FolderView.tsx";
import { pathOf } from "./paths.ts";

export function FilesPage() {
  const { device: id, _splat = "" } = useParams({ from: "/d/$device/files/$" });
  return (
    <OfMachine id={id} title="Files" notDirectly="Files are shown through the relay.">
      {(device) => <FolderView key={id} device={device} path={pathOf(_splat)} />}
    </OfMachine>
  );
}

/** What a page shows of one machine: nothing before the machine is known, and the reason where there is nothing to show. */
import type { DeviceView } from "@matrx/shared/api.ts";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useDevice, useDevices } from "../data/devices.ts";
import { LOCAL_DEVICE } from "../direct/local.ts";
import { Loaded } from "../ui/Loaded.tsx";
import { Page } from "../ui/Page.tsx";
import { NotThroughHere } from "./NotThroughHere.tsx";

interface Props {
  readonly id: string;
  /** Of the page, until it is known of which machine. */
  readonly title: string;
  /** Why it is not shown of this computer, where that is reached directly; undefined: it is. */
  readonly notDirectly?: string;
  /** Why it is not shown of a program of one's own; undefined: it is. */
  readonly notOfPrograms?: string;
  readonly children: (device: DeviceView) => ReactNode;
}

export function OfMachine({ id, title, notDirectly, notOfPrograms, children }: Props) {
  const query = useDevices();
  const device = useDevice(id);
  if (id === LOCAL_DEVICE && notDirectly)
    return (
      <Page title={title}>
        <NotThroughHere>{notDirectly}</NotThroughHere>
      </Page>
    );
  if (!device)
    return (
      <Page title={query.data ? "No such machine" : title}>
        <Loaded query={query}>
          {() => (
            <div>
              It was removed, or is not yours. Go to <Link to="/fleet">your machines</Link>.
            </div>
          )}
        </Loaded>
      </Page>
    );
  if (device.kind === "bare" && notOfPrograms) return <Page title={title}>{notOfPrograms}</Page>;
  return children(device);
}

/** A page of one machine with tools for the browser's AI and for scripts, where they can work: loaded after the page itself. */
import { useParams } from "@tanstack/react-router";
import { type ComponentType, lazy, Suspense } from "react";
import { useDevice } from "../../data/devices.ts";
import { LOCAL_DEVICE } from "../../direct/local.ts";

/** The page is none the worse without them. */
const PageTools = lazy(() =>
  import("./PageTools.tsx").then(
    ({ PageTools: found }) => ({ default: found }),
    () => ({ default: () => null }),
  ),
);

export function withPageTools(Page: ComponentType): ComponentType {
  return () => (
    <>
      <PageToolsOfMachine />
      <Page />
    </>
  );
}

function PageToolsOfMachine() {
  const { device: id = "" } = useParams({ strict: false });
  const device = useDevice(id);
  if (device?.kind !== "agent" || id === LOCAL_DEVICE) return null;
  return (
    <Suspense>
      <PageTools device={device} />
    </Suspense>
  );
}

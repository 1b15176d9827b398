/** Tools of a machine's page for the browser's AI and for scripts, where they can work: loaded after the page itself. */
import type { DeviceView } from "@matrx/shared/api.ts";
import { lazy, Suspense } from "react";
import { LOCAL_DEVICE } from "../../direct/local.ts";

/** The page is none the worse without them. */
const PageTools = lazy(() =>
  import("./PageTools.tsx").then(
    ({ PageTools: found }) => ({ default: found }),
    () => ({ default: () => null }),
  ),
);

export function PageToolsOf({ device }: { device: DeviceView }) {
  if (device.kind !== "agent" || device.id === LOCAL_DEVICE) return null;
  return (
    <Suspense>
      <PageTools device={device} />
    </Suspense>
  );
}

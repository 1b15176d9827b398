/** Why a tool of a machine can't be run now, and what ends that; undefined: it can. */

import { useDevice } from "../data/devices.ts";
import { LOCAL_DEVICE } from "../direct/local.ts";
import { isOnline } from "../ui/device-words.ts";
import { ago } from "../ui/format.ts";
import { nameInText } from "../ui/visible-text.ts";

export function useObstacle(device: string): string | undefined {
  const view = useDevice(device);
  if (device === LOCAL_DEVICE && !view)
    return "This computer is not connected directly: connect it under Settings, Connection.";
  if (!view) return undefined;
  const { last_seen: seen, paused } = view;
  const name = nameInText(view.name);
  if (paused === "everyone")
    return `${name} is paused. Only somebody at the machine can end that: matrx resume.`;
  if (isOnline(view)) return undefined;
  if (device === LOCAL_DEVICE)
    return "This computer is not reached now. What you typed is kept, and it can run when the connection is back.";
  const since = seen === null ? "it was never seen" : `it was last seen ${ago(seen)}`;
  return `${name} is offline: ${since}. What you typed is kept, and it can run when the machine is back.`;
}

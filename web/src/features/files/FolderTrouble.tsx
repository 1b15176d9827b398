/** Why the folder can't be shown as it is now. What was read before stays below. */

import { Alert } from "@mantine/core";
import type { DeviceView } from "@matrx/shared/api.ts";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { useConnection } from "../../relay/connection.ts";
import { ago } from "../../ui/format.ts";
import { Problem } from "../../ui/Problem.tsx";
import { nameInText } from "../../ui/visible-text.ts";
import { isNotFolder } from "./errors.ts";

interface Props {
  readonly device: DeviceView;
  readonly isReachable: boolean;
  readonly error: Error | null;
  readonly retry: () => void;
}

export function FolderTrouble({ device, isReachable, error, retry }: Props) {
  const isLive = useConnection(({ state }) => state === "online");
  const isStarting = useConnection(({ state }) => state === "connecting");
  if (isStarting) return null;
  if (!isReachable)
    return (
      <Alert color="yellow" variant="outline" role="status" icon={<IconPlugConnectedX aria-hidden />}>
        {isLive ? obstacleOf(device) : "The relay is not reached now. The page goes on when it is back."}
      </Alert>
    );
  return error && !isNotFolder(error) ? <Problem error={error} retry={retry} /> : null;
}

function obstacleOf({ name, paused, last_seen: seen }: DeviceView): string {
  const machine = nameInText(name);
  if (paused === "everyone")
    return `${machine} is paused. Only somebody at the machine can end that: matrx resume.`;
  const since = seen === null ? "it was never seen" : `it was last seen ${ago(seen)}`;
  return `${machine} is offline: ${since}. Its files are there again when it is back.`;
}

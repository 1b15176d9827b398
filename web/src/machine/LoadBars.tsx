/** How loaded a machine is. */
import { Group, Text } from "@mantine/core";
import { useLoad } from "../data/system-info.ts";
import { ActionButton } from "../ui/ActionButton.tsx";
import { clockTime } from "../ui/format.ts";
import { Meter } from "../ui/Meter.tsx";
import { WaitsForApproval } from "../ui/WaitsForApproval.tsx";

export function LoadBars({ device, isReachable }: { device: string; isReachable: boolean }) {
  const {
    query: { data },
    question,
  } = useLoad(device, isReachable);
  if (!data && !isReachable) return null;
  return (
    <div>
      <Group gap={14} wrap="nowrap">
        <Meter label="CPU" value={data?.cpu} isOld={!isReachable} />
        <Meter label="Memory" value={data?.memory} isOld={!isReachable} />
        <Meter label="Disk" value={data?.disk} isOld={!isReachable} />
      </Group>
      {data && (!isReachable || question) && (
        <Text fz={13} c="dimmed">
          As of {clockTime(data.at)}
        </Text>
      )}
      {isReachable && <AskedLoad device={device} />}
    </div>
  );
}

/** What stands below the load of a machine that somebody has to allow to be read. */
function AskedLoad({ device }: { device: string }) {
  const { query, question } = useLoad(device, true);
  if (question === undefined) return null;
  if (question === "waiting") return <WaitsForApproval>Reading its load</WaitsForApproval>;
  return (
    <>
      <Text fz={13} c="dimmed">
        Each look at its load needs approval, so it isn't read automatically.
      </Text>
      <ActionButton size="compact-sm" variant="default" work={() => query.refetch()}>
        Read it
      </ActionButton>
    </>
  );
}

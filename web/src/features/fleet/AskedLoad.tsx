/** What stands below the load of a machine that somebody has to allow to be read. */
import { useLoad } from "../../relay/system-info.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { WaitsForApproval } from "../../ui/WaitsForApproval.tsx";
import classes from "./FleetPage.module.css";

export function AskedLoad({ device }: { device: string }) {
  const { query, question } = useLoad(device, true);
  if (question === undefined) return null;
  if (question === "waiting") return <WaitsForApproval>Reading its load</WaitsForApproval>;
  return (
    <>
      <div className={classes.soft}>
        Each look at its load needs approval, so it isn't read automatically.
      </div>
      <ActionButton size="compact-sm" variant="default" work={() => query.refetch()}>
        Read it
      </ActionButton>
    </>
  );
}

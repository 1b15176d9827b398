/** Says that calls of this page wait for a person's yes before anything is done. */
import { useWaitingCalls } from "../../calls/call-tool.ts";
import { ApprovalWords } from "../../ui/WaitsForApproval.tsx";
import classes from "./Files.module.css";

export function QuestionBar({ device }: { device: string }) {
  const count = useWaitingCalls(({ calls }) => calls.filter((call) => call.device === device).length);
  if (count === 0) return null;
  return (
    <div className={classes.bar} role="status">
      <span className={classes.barText}>
        <ApprovalWords>{count === 1 ? "1 call" : `Each of ${count} calls`}</ApprovalWords>
      </span>
    </div>
  );
}

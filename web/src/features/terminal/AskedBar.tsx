/** Says that a new terminal waits for a person's yes. */
import { Button } from "@mantine/core";
import { Status } from "../../ui/Status.tsx";
import { ApprovalWords } from "../../ui/WaitsForApproval.tsx";
import classes from "./Terminal.module.css";

export function AskedBar({ cancel }: { cancel: () => void }) {
  return (
    <div className={classes.asked}>
      <span role="status" className={classes.standing}>
        <Status tone="warn">
          <ApprovalWords>A new terminal</ApprovalWords>
        </Status>
      </span>
      <Button size="compact-xs" variant="default" onClick={cancel}>
        Don't open it
      </Button>
    </div>
  );
}

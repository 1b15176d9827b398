/** Says that a new terminal waits for a person's yes. */
import { Button } from "@mantine/core";
import { Status } from "../../ui/Status.tsx";
import { ApprovalLink } from "./ApprovalLink.tsx";
import classes from "./Terminal.module.css";

export function AskedBar({ cancel }: { cancel: () => void }) {
  return (
    <div className={classes.asked}>
      <span role="status" className={classes.standing}>
        <Status tone="warn">
          A new terminal waits for an approval: <ApprovalLink />
        </Status>
      </span>
      <Button size="compact-xs" variant="default" onClick={cancel}>
        Don't open it
      </Button>
    </div>
  );
}

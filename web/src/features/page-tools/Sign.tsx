/** Says that an AI or a script may use the machine, and takes that back. */
import { Button } from "@mantine/core";
import { IconRobot } from "@tabler/icons-react";
import classes from "./PageTools.module.css";
import type { PageSession } from "./session.ts";

export function Sign({ session, machine }: { session: PageSession; machine: string }) {
  const reach = session.gate.useState((state) => state.reach);
  return (
    <div className={classes.sign} data-shown={reach !== undefined}>
      <span role="status" className={classes.words}>
        {reach && (
          <>
            <IconRobot size={18} aria-hidden />
            An AI or a script in this browser {reach === "look" ? "can look at" : "can use"} {machine}
          </>
        )}
      </span>
      {reach && (
        <Button size="xs" variant="default" className={classes.stop ?? ""} onClick={() => session.stop()}>
          Stop
        </Button>
      )}
    </div>
  );
}

/** What waits for a person's yes before it is done, and where that is said. */
import { Link } from "@tanstack/react-router";
import { useWaitingCalls } from "../../relay/call-tool.ts";
import { plural } from "../../ui/format.ts";
import classes from "./Files.module.css";

export function QuestionBar({ device }: { device: string }) {
  const count = useWaitingCalls(({ calls }) => calls.filter((call) => call.device === device).length);
  if (count === 0) return null;
  return (
    <div className={classes.bar} role="status">
      <span className={classes.barText}>
        {plural(count, "call")} {count === 1 ? "waits" : "wait"} for a person's yes, and{" "}
        {count === 1 ? "goes" : "go"} on when that comes.
      </span>
      <Link to="/activity" search={{ show: "needs-you" }}>
        Activity, Needs you
      </Link>
    </div>
  );
}

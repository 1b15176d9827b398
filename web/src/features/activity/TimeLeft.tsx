/** How long a call waits still. When by this clock it should be over, the relay is asked. */
import { useEffect } from "react";
import { clockTime, countdown } from "../../ui/format.ts";
import { useNow } from "../../ui/use-now.ts";
import classes from "./TimeLeft.module.css";

/** How often the relay is asked about one that should have expired, in milliseconds. */
const LOOK_EVERY = 5_000;

export function TimeLeft({ expires, look }: { expires: string; look: () => void }) {
  const now = useNow();
  const left = Date.parse(expires) - now;
  const isOver = left <= 0;
  const turn = isOver ? Math.floor(-left / LOOK_EVERY) : -1;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once a turn
  useEffect(() => {
    if (turn >= 0) look();
  }, [turn]);
  return (
    <span className={classes.left} role="timer" data-soon={left < 60_000 || undefined}>
      {isOver
        ? `Expires now (${clockTime(expires)})`
        : `Expires in ${countdown(left)}, at ${clockTime(expires)}`}
    </span>
  );
}

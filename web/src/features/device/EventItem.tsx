/** One event of a machine, in words; all of it in its details. */
import type { EventView } from "@matrx/shared/api.ts";
import { Facts } from "../../ui/Facts.tsx";
import { clockTime, plural } from "../../ui/format.ts";
import { Status, type Tone } from "../../ui/Status.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import classes from "./Events.module.css";
import { aboutOf, isElsewhen, SEVERITIES, textOf, titleOf } from "./event-words.ts";

export function EventItem({ event }: { event: EventView }) {
  const { severity, data = {}, resolved, open, timestamp, received, dropped } = event;
  const about = aboutOf(event);
  const known = severity === null ? undefined : SEVERITIES.get(severity);
  const [tone, text]: readonly [Tone, string] = known ?? ["idle", visibleLine(severity ?? "")];
  const details = Object.entries(data);
  return (
    <li className={classes.event}>
      <div className={classes.head}>
        <h3>
          <bdi>{titleOf(event)}</bdi>
        </h3>
        {text && <Status tone={tone}>{text}</Status>}
        {open && <Status tone="bad">Open</Status>}
        {resolved && <Status tone="ok">Over</Status>}
        <time className={classes.time} dateTime={received}>
          {clockTime(received)}
        </time>
      </div>
      {about && (
        <p>
          <bdi>{visibleLine(about)}</bdi>
        </p>
      )}
      {timestamp !== null && isElsewhen(timestamp, received) && (
        <p>
          The machine says <bdi>{visibleLine(timestamp)}</bdi>
        </p>
      )}
      {details.length > 0 && (
        <details>
          <summary>Details</summary>
          <Facts
            facts={details.map(([name, value]) => [
              visibleLine(name.replaceAll("_", " ")),
              <Value key={name} value={value} />,
            ])}
          />
        </details>
      )}
      {dropped > 0 && (
        <p>{plural(dropped, "earlier one was", "earlier ones were")} dropped: too many came at once.</p>
      )}
    </li>
  );
}

function Value({ value }: { value: unknown }) {
  return <span className={classes.value}>{textOf(value).split("\n").map(visibleLine).join("\n")}</span>;
}

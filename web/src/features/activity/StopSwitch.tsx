/** One button that ends all that AIs do, on all machines; and the way back. */
import type { PauseView } from "@matrx/shared/pause-api.ts";
import { IconHandStop, IconPlayerPlay } from "@tabler/icons-react";
import { api } from "../../relay/api.ts";
import { useLive } from "../../relay/live.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { clockTime, plural } from "../../ui/format.ts";
import { visibleLine } from "../../ui/visible-text.ts";
import classes from "./StopSwitch.module.css";

const STOP = {
  text: "Stop everything that AIs and guests do, on all machines? Their calls and background commands end now, and they can do nothing until you let them act again. Your own sessions and script tokens go on.",
  yes: "Stop everything",
  no: "Let them go on",
};
const RESUME = {
  text: "Let all AIs and guests act again, as far as each may? What was stopped does not start again.",
  yes: "Let them act again",
  no: "Keep them stopped",
  isHarmless: true,
};

export function StopSwitch() {
  const isPaused = useLive(({ pause }) => pause?.paused ?? false);
  const set = async () => {
    useLive.setState({ pause: await api("POST /v1/pause", { body: { paused: !isPaused } }) });
  };
  // One button for both, so that the focus stays.
  return (
    <ActionButton
      variant={isPaused ? "filled" : "outline"}
      color={isPaused ? "blue" : "var(--bad)"}
      leftSection={
        isPaused ? <IconPlayerPlay size={16} aria-hidden /> : <IconHandStop size={16} aria-hidden />
      }
      work={set}
      ask={isPaused ? RESUME : STOP}
    >
      {isPaused ? "Let AIs act again" : "Stop everything"}
    </ActionButton>
  );
}

/** Whether AIs may act, in a sentence. */
export function PauseState() {
  const pause = useLive((live) => live.pause);
  return (
    <span role="status" className={classes.state} data-paused={pause?.paused || undefined}>
      {wordsOf(pause)}
    </span>
  );
}

function wordsOf(pause: PauseView | undefined): string {
  if (!pause?.paused) return "AIs may act, each as far as its token allows.";
  const { changed, changed_by: by, devices, devices_told: told } = pause;
  const who = by === null ? "" : ` by ${visibleLine(by)}`;
  const when = changed === null ? "" : `, ${clockTime(changed)}`;
  const waiting =
    told < devices
      ? ` ${devices - told} of ${plural(devices, "machine")} could not be told yet, and will be as soon as they can.`
      : "";
  return `Stopped${who}${when}: AIs can do nothing until you let them act again.${waiting}`;
}

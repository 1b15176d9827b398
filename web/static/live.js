/** What the account link keeps up to date: the stop switch, approvals, and what happens on all devices. */
import { followAccount } from "./account-link.js";
import { Activity } from "./activity.js";
import { Approvals } from "./approvals.js";
import { StopSwitch } from "./stop-switch.js";

/** Three sections, until `close`. `changed` is called after an approval edited a token, `ended` when the session is over. */
export function liveViews({ changed, ended }) {
  const stop = new StopSwitch();
  const approvals = new Approvals(changed);
  const activity = new Activity();
  const link = followAccount({
    onOpen: ({ pause }, send) => {
      if (pause) stop.show(pause);
      approvals.opened();
      activity.opened(send);
    },
    onFrame: (frame) => {
      if (frame.type === "approval") approvals.take(frame.approval);
      else if (frame.type === "paused") stop.show(frame.pause);
      else activity.take(frame);
    },
    onDown: async () => {
      activity.lost();
      const goesOn = await approvals.lost();
      if (!goesOn) await ended();
      return goesOn;
    },
  });
  return {
    stop: stop.view,
    approvals: approvals.view,
    activity: activity.view,
    /** Devices get the names that the account gave them. */
    name: (devices) => activity.name(devices),
    close() {
      link.close();
      approvals.close();
      activity.close();
    },
  };
}

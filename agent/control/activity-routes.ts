/** `GET /activity?last=NUMBER&follow=false`: the latest entries, then each new one as it happens, as JSON lines. */
import type { Activity, ActivityEntry } from "../core/activity.ts";
import type { ControlRoutes } from "./app.ts";

/** A reader this many entries behind is let go. */
const MOST_BEHIND = 1000;

const encoder = new TextEncoder();

export function activityRoutes(activity: Activity): ControlRoutes {
  return (app) => {
    app.get("/activity", (c) => {
      const last = Number(c.req.query("last") ?? Number.POSITIVE_INFINITY);
      const earlier = last > 0 ? activity.recent().slice(-last) : [];
      const isFollowed = c.req.query("follow") !== "false";
      const body = isFollowed ? streamOf(activity, earlier) : earlier.map(lineOf).join("");
      return c.body(body, 200, { "Content-Type": "application/x-ndjson" });
    });
  };
}

function streamOf(activity: Activity, earlier: readonly ActivityEntry[]): ReadableStream<Uint8Array> {
  let unsubscribe = () => {};
  return new ReadableStream({
    start(controller) {
      const send = (entry: ActivityEntry) => {
        controller.enqueue(encoder.encode(lineOf(entry)));
        if ((controller.desiredSize ?? 0) > -MOST_BEHIND) return;
        unsubscribe();
        controller.close();
      };
      earlier.forEach(send);
      unsubscribe = activity.subscribe(send);
    },
    cancel: () => unsubscribe(),
  });
}

function lineOf(entry: ActivityEntry): string {
  return `${JSON.stringify(entry)}\n`;
}

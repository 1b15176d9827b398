/** A tab of the browser that is new to a machine's terminals begins with those that were shown last and still run. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { useEffect, useState } from "react";
import { plural } from "../../ui/format.ts";
import { say } from "../../ui/notices.ts";
import { allPanes, type Layout, without } from "./layout.ts";
import type { Room } from "./room.ts";
import { type ChangeLayout, lastLayout } from "./use-layout.ts";

/** Whether it is over: until then nothing is shown. */
export function useLastLayout(device: string, room: Room | undefined, change: ChangeLayout): boolean {
  const [last, setLast] = useState(() => lastLayout(device));
  useEffect(() => {
    if (!room || !last) return;
    let isLeft = false;
    void stillRunning(room, last).then((layout) => {
      if (isLeft) return;
      const ended = allPanes(last).length - allPanes(layout).length;
      if (ended > 0)
        say(`${plural(ended, "terminal")} from last time ${ended === 1 ? "has" : "have"} ended.`);
      setLast(undefined);
      // They are this tab's from now on, and what has ended is nobody's.
      change(() => last);
      change(() => layout);
    });
    return () => {
      isLeft = true;
    };
  }, [room, last, change]);
  return last === undefined;
}

/** All of it where the machine does not say which run: each pane tells how it stands. */
async function stillRunning(room: Room, last: Layout): Promise<Layout> {
  const running = await runningIn(room);
  const ended = allPanes(last).filter(({ terminal }) => running?.has(terminal) === false);
  return ended.reduce((layout, { id }) => without(layout, id), last);
}

/** Undefined: it is not known, or a person would be asked first. */
async function runningIn(room: Room): Promise<ReadonlySet<string> | undefined> {
  const asked = new AbortController();
  try {
    const running = await room.list({ signal: asked.signal, onApproval: () => asked.abort() });
    return new Set(running.map(({ terminal }) => terminal));
  } catch (error) {
    if (error instanceof MatrxError) return undefined;
    throw error;
  }
}

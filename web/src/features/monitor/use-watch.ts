/** What a machine tells while its monitor is on the screen. */
import { useEffect, useState } from "react";
import { DeviceLink } from "../../relay/streams/device-link.ts";
import { useIsSeen } from "../../ui/use-is-seen.ts";
import type { Sample } from "./sample.ts";
import { type WatchState, watch } from "./watching.ts";

/** How many samples are kept to be drawn. */
export const KEPT = 300;

export interface Watched {
  /** The oldest first. */
  readonly samples: readonly Sample[];
  readonly state: WatchState;
}

const NOTHING: Watched = { samples: [], state: { kind: "connecting" } };

/** The connection to a machine; undefined: not yet. */
export function useLink(device: string): DeviceLink | undefined {
  const [link, setLink] = useState<DeviceLink>();
  useEffect(() => {
    const made = new DeviceLink(device);
    setLink(made);
    return () => {
      made.close();
      setLink(undefined);
    };
  }, [device]);
  return link;
}

/** Nobody is asked while the page is out of sight, or `isPaused`; what came before stays. */
export function useWatch(link: DeviceLink | undefined, everyMs: number, isPaused: boolean): Watched {
  const [watched, setWatched] = useState(NOTHING);
  const isSeen = useIsSeen();
  useEffect(() => {
    if (!link || isPaused || !isSeen) return;
    const leaving = new AbortController();
    const watcher = {
      onSample: (sample: Sample) =>
        setWatched(({ samples, ...rest }) => ({ ...rest, samples: [...samples, sample].slice(-KEPT) })),
      onState: (state: WatchState) => setWatched((before) => ({ ...before, state })),
    };
    void watch({ link, everyMs }, watcher, leaving.signal);
    return () => leaving.abort();
  }, [link, everyMs, isPaused, isSeen]);
  return watched;
}

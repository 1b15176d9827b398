/** What a machine tells while its monitor is on the screen. */
import { useEffect, useState } from "react";
import { DeviceLink } from "../../relay/streams/device-link.ts";
import { useIsSeen } from "../../ui/use-is-seen.ts";
import type { Sample } from "./sample.ts";
import { type WatchState, watch } from "./watching.ts";

/** What is kept to be drawn: the samples of an hour, in milliseconds, and never more than so many. */
const KEPT = { ms: 3_600_000, samples: 1800 } as const;

export interface Watched {
  /** The oldest first. */
  readonly samples: readonly Sample[];
  readonly state: WatchState;
  /** Asks again after a failure. */
  readonly retry: () => void;
}

const NOTHING: Omit<Watched, "retry"> = { samples: [], state: { kind: "connecting" } };

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

/**
 * Nobody is asked while the page is out of sight, or `isPaused`; what came before stays. What a person had to allow goes on out
 * of sight: otherwise that person would be asked again.
 */
export function useWatch(link: DeviceLink | undefined, everyMs: number, isPaused: boolean): Watched {
  const [watched, setWatched] = useState(NOTHING);
  const [tries, setTries] = useState(0);
  const [needsApproval, setNeedsApproval] = useState(false);
  const isWanted = useIsSeen() || needsApproval;
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever tries again watches anew
  useEffect(() => {
    if (!link || isPaused || !isWanted) return;
    const leaving = new AbortController();
    const watcher = {
      onSample: (sample: Sample) =>
        setWatched(({ samples, ...rest }) => ({ ...rest, samples: withSample(samples, sample) })),
      onState: (state: WatchState) => {
        if (state.kind === "asked") setNeedsApproval(true);
        setWatched((before) => ({ ...before, state }));
      },
    };
    void watch({ link, everyMs }, watcher, leaving.signal);
    return () => leaving.abort();
  }, [link, everyMs, isPaused, isWanted, tries]);
  return { ...watched, retry: () => setTries(tries + 1) };
}

/** In the order of time, even where this computer's clock was set back. */
function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const { at } = sample;
  const kept = samples.filter((one) => one.at < at && one.at > at - KEPT.ms);
  return [...kept, sample].slice(-KEPT.samples);
}

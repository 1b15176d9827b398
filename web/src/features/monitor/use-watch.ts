/** What a machine tells while its monitor is on the screen. */
import { useState } from "react";
import { useToolStream } from "../../calls/use-tool-stream.ts";
import type { Sample } from "./sample.ts";
import { type WatchState, watch } from "./watching.ts";

/** What is kept to be drawn: the samples of an hour, in milliseconds, and never more than so many. */
const KEPT = { ms: 3_600_000, samples: 1800 } as const;
const CREDIT = 128 * 1024;

export interface Watched {
  /** The oldest first. */
  readonly samples: readonly Sample[];
  readonly state: WatchState;
  /** Asks again after a failure. */
  readonly retry: () => void;
}

const NOTHING: Omit<Watched, "retry"> = { samples: [], state: { kind: "connecting" } };

/** `isPaused`: nobody is asked, and what came before stays. */
export function useWatch(device: string, everyMs: number, isPaused: boolean): Watched {
  const [watched, setWatched] = useState(NOTHING);
  const onState = (state: WatchState) => setWatched((before) => ({ ...before, state }));
  const onSample = (sample: Sample) =>
    setWatched(({ samples, ...rest }) => ({ ...rest, samples: withSample(samples, sample) }));
  const retry = useToolStream({
    ...{ device, tool: "SystemMetrics", input: { interval_ms: everyMs }, credit: CREDIT, isPaused },
    onAway: onState,
    take: (opened) => watch(opened, everyMs, { onSample, onState }),
  });
  return { ...watched, retry };
}

/** In the order of time, even where this computer's clock was set back. */
function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const { at } = sample;
  const kept = samples.filter((one) => one.at < at && one.at > at - KEPT.ms);
  return [...kept, sample].slice(-KEPT.samples);
}

/** How fast bytes go, over the last seconds. */

/** In milliseconds. */
const WINDOW = 5_000;

interface Sample {
  readonly at: number;
  readonly bytes: number;
}

/** The samples of the window, with this one; of which the first is kept, however old it is. */
export function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const first = samples.findLastIndex(({ at }) => at <= sample.at - WINDOW);
  return [...samples.slice(Math.max(first, 0)), sample];
}

/** In bytes a second; undefined: too early to tell. */
export function speedOf(samples: readonly Sample[]): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || last.at - first.at < 500) return undefined;
  return Math.max(0, ((last.bytes - first.bytes) * 1000) / (last.at - first.at));
}

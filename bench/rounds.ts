/** Rounds: every variant once in each, in an order shuffled anew, so that the machine's moods fall on all of them. */
import { measure, type Sample, type Shape } from "./measure.ts";
import type { Variant } from "./variant.ts";

/** All samples of one variant under one shape; the index is the round. */
export interface Series {
  variant: Variant;
  shape: Shape;
  samples: Sample[];
}

export interface Bounds {
  rounds: number;
  /** Past so many milliseconds no measurement begins; the first round is always whole. */
  longest: number;
}

export async function runRounds(
  series: Series[],
  bounds: Bounds,
  onRound: (round: number) => void,
): Promise<void> {
  const shapes = new Set(series.map(({ shape }) => shape));
  const end = performance.now() + bounds.longest;
  for (let round = 1; round <= bounds.rounds; round++) {
    for (const shape of shapes) {
      for (const entry of shuffled(series.filter((candidate) => candidate.shape === shape))) {
        if (round > 1 && performance.now() > end) return;
        entry.samples.push(await measure(entry.variant, shape));
      }
    }
    onRound(round);
  }
}

/** Fisher and Yates. */
export function shuffled<Item>(items: Item[]): Item[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1));
    [result[last], result[other]] = [result[other] as Item, result[last] as Item];
  }
  return result;
}

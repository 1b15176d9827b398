/** A median with its smallest and largest value over the rounds. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

export function spreadOf(values: number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  const median = sorted.length % 2 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

/** Ratios inside each round; rounds that lack either value are left out. */
export function ratioOf(values: (number | undefined)[], base: (number | undefined)[]): Spread | undefined {
  const ratios = values.flatMap((value, round) => {
    const below = base[round];
    return value === undefined || !below ? [] : [value / below];
  });
  return ratios.length ? spreadOf(ratios) : undefined;
}

/** From samples to figures: medians with their spread, ratios inside each round, and what was to be reached. */
import { quantile, type Shape } from "./measure.ts";
import type { Series } from "./rounds.ts";
import { ratioOf, type Spread, spreadOf } from "./spread.ts";
import type { Variant } from "./variant.ts";

/** Variants that are compared with one another. */
export interface Group {
  title: string;
  /** What the ratios are to. */
  base: Variant;
  variants: Variant[];
  shapes: Shape[];
  aims?: Aim[];
}

/** What a variant is to reach beside its group's base, one call at a time. */
export interface Aim {
  what: string;
  variant: Variant;
  ratio: "latency_ratio" | "cpu_ratio";
  atMost: number;
}

export interface Row {
  variant: string;
  p50_us: Spread;
  /** Over the calls of all rounds. */
  p99_us: number;
  calls_per_s: Spread;
  cpu_us?: Spread;
  latency_ratio?: Spread;
  cpu_ratio?: Spread;
}

export interface Table {
  title: string;
  in_flight: number;
  base: string;
  rows: Row[];
}

export interface Reach {
  what: string;
  at_most: number;
  ratio?: Spread;
  reached?: boolean;
}

/** Every variant of the groups under every shape, each once. */
export function seriesOf(groups: Group[]): Series[] {
  const series: Series[] = [];
  for (const { variants, shapes } of groups) {
    for (const shape of shapes) {
      for (const variant of variants) {
        if (!find(series, variant, shape)) series.push({ variant, shape, samples: [] });
      }
    }
  }
  return series;
}

export function tablesOf(groups: Group[], series: Series[]): Table[] {
  return groups.flatMap(({ title, base, variants, shapes }) =>
    shapes.map((shape) => ({
      title,
      in_flight: shape.inFlight,
      base: base.name,
      rows: variants.flatMap((variant) => {
        const own = find(series, variant, shape);
        const baseSeries = find(series, base, shape);
        return own && baseSeries ? [rowOf(own, baseSeries)] : [];
      }),
    })),
  );
}

function rowOf({ variant, samples }: Series, base: Series): Row {
  const cpu = samples.flatMap(({ cpu_us }) => cpu_us ?? []);
  const isBase = variant === base.variant;
  const latencyRatio = isBase ? undefined : ratioOf(p50s(samples), p50s(base.samples));
  const cpuRatio = isBase ? undefined : ratioOf(cpus(samples), cpus(base.samples));
  return {
    variant: variant.name,
    p50_us: spreadOf(p50s(samples)),
    p99_us: quantile(Float64Array.from(samples.flatMap((sample) => [...sample.latencies])).sort(), 0.99),
    calls_per_s: spreadOf(samples.map((sample) => sample.calls_per_s)),
    ...(cpu.length && { cpu_us: spreadOf(cpu) }),
    ...(latencyRatio && { latency_ratio: latencyRatio }),
    ...(cpuRatio && { cpu_ratio: cpuRatio }),
  };
}

const p50s = (samples: Series["samples"]) => samples.map(({ p50_us }) => p50_us);
const cpus = (samples: Series["samples"]) => samples.map(({ cpu_us }) => cpu_us);

/** Which aims were reached, by the median of the ratios. */
export function reachesOf(groups: Group[], tables: Table[]): Reach[] {
  return groups.flatMap(({ title, aims = [] }) => {
    const table = tables.find((candidate) => candidate.title === title && candidate.in_flight === 1);
    return aims.map(({ what, variant, ratio, atMost }) => {
      const found = table?.rows.find((row) => row.variant === variant.name)?.[ratio];
      return {
        what,
        at_most: atMost,
        ...(found && { ratio: found, reached: found.median <= atMost }),
      };
    });
  });
}

function find(series: Series[], variant: Variant, shape: Shape): Series | undefined {
  return series.find((entry) => entry.variant === variant && entry.shape === shape);
}

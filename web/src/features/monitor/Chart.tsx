/** Figures over time as lines, drawn on a canvas: what it shows is also said in words above it. */
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import classes from "./Monitor.module.css";

export interface Line {
  readonly label: string;
  /** A colour's variable, such as `--info`. */
  readonly colour: string;
  /** Not known: a gap. */
  readonly values: readonly (number | undefined)[];
}

interface Props {
  /** Of the values, in milliseconds since 1970. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  /** The axis goes up to it; undefined: to the highest value. */
  readonly most?: number;
  readonly shown: (value: number) => string;
}

const HEIGHT = 136;
/** An axis that fits the highest value has at least this much. */
const LEAST = 1024;
/** Marks of time are whole seconds, as their words are. */
const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600];
/** Its marks are whole KiB and MiB. */
const BINARY_STEPS = Array.from({ length: 57 }, (_, power) => 2 ** (power + 7));

export function Chart({ times, lines, most, shown }: Props) {
  const scheme = useComputedColorScheme("dark", { getInitialValueInEffect: false });
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(shown);
  latest.current = shown;
  const colours = lines.map(({ colour }) => colour).join();
  const labels = lines.map(({ label }) => label).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours' values are the scheme's
  useEffect(() => {
    const box = place.current;
    if (!box) return;
    const options = optionsFor({
      width: box.clientWidth,
      series: labels.split("\n").map((label, at) => ({ label, colour: colours.split(",")[at] ?? "" })),
      most,
      shown: (value) => latest.current(value),
    });
    const made = new uPlot(options, [[]], box);
    plot.current = made;
    const watcher = new ResizeObserver(() => made.setSize({ width: box.clientWidth, height: HEIGHT }));
    watcher.observe(box);
    return () => {
      watcher.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [scheme, colours, labels, most]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new plot needs the data, too
  useEffect(() => {
    const data = lines.map(({ values }) => values.map((value) => value ?? null));
    plot.current?.setData([times.map((at) => at / 1000), ...data]);
  }, [times, lines, scheme, colours, labels, most]);
  return <div ref={place} className={classes.plot} aria-hidden />;
}

interface Wanted {
  readonly width: number;
  readonly series: readonly { readonly label: string; readonly colour: string }[];
  readonly most: number | undefined;
  readonly shown: (value: number) => string;
}

function optionsFor({ width, series, most, shown }: Wanted): uPlot.Options {
  const colourOf = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name);
  const axis = {
    stroke: colourOf("--mantine-color-dimmed"),
    grid: { stroke: colourOf("--border"), width: 1 },
    ticks: { show: false },
    font: "11px Inter Variable, system-ui, sans-serif",
  };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_plot, _low, high) => [0, most ?? Math.max(LEAST, high * 1.1)] } },
    axes: [
      { ...axis, size: 24, space: 90, incrs: SECONDS, values: (_plot, marks) => marks.map(timeOf) },
      {
        ...axis,
        size: 74,
        space: 36,
        values: (_plot, marks) => marks.map(shown),
        ...(most === undefined && { incrs: BINARY_STEPS }),
      },
    ],
    series: [
      {},
      ...series.map(({ label, colour }) => ({
        label,
        stroke: colourOf(colour),
        width: 1.5,
        points: { show: false },
      })),
    ],
  };
}

/** `at`: seconds since 1970. */
function timeOf(at: number): string {
  return new Date(at * 1000).toLocaleTimeString([], { timeStyle: "medium" });
}

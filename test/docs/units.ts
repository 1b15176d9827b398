/** Numbers with their units, as the documents write them. */

export type Units = readonly [number, string][];

export const BYTE_UNITS: Units = [
  [1024 ** 2, "MiB"],
  [1024, "KiB"],
  [1, "bytes"],
];

export const TIME_UNITS: Units = [
  [3_600_000, "h"],
  [60_000, "min"],
  [1000, "s"],
  [1, "ms"],
];

/** The largest unit in which a value is whole. */
export function inUnits(value: number, units: Units): string {
  const [size, name] = units.find(([size]) => value % size === 0) ?? [1, ""];
  return `${value / size} ${name}`;
}

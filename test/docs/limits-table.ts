/** The table of limits and times, made from shared/limits.ts: its values, and the comments above them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DEVICE_QUEUE_MAX_BYTES, LIMITS, RATES, TIMES } from "@matrx/shared/limits.ts";
import { ROOT } from "../../scripts/tree.ts";

type Unit = (value: number) => string;

const bytes: Unit = (value) => inUnits(value, [1024 ** 2, "MiB"], [1024, "KiB"], [1, "bytes"]);
const time: Unit = (value) => inUnits(value, [3_600_000, "h"], [60_000, "min"], [1000, "s"], [1, "ms"]);

/** The largest unit in which a value is whole. */
function inUnits(value: number, ...units: [number, string][]): string {
  const [size, name] = units.find(([size]) => value % size === 0) ?? [1, ""];
  return `${value / size} ${name}`;
}

/** Comments by the name that they stand above. */
function comments(): Map<string, string> {
  const source = readFileSync(join(ROOT, "shared/limits.ts"), "utf8");
  const found = source.matchAll(/\/\*\* (.+) \*\/\n(?: *|export const )(\w+)(?::| =)/g);
  return new Map(Array.from(found, ([, comment = "", name = ""]) => [name, comment]));
}

export function limitsTable(): string {
  const said = comments();
  const row = (name: string, value: string, comment = name) => {
    const meaning = said.get(comment);
    if (!meaning) throw new Error(`${comment} has no comment in shared/limits.ts`);
    return `| \`${name}\` | ${value} | ${meaning} |`;
  };
  const limits = Object.entries(LIMITS).map(([name, value]) =>
    row(name, name.endsWith("Bytes") ? bytes(value) : String(value)),
  );
  const times = Object.entries(TIMES).map(([name, value]) => row(name, time(value)));
  const { heartbeatEvery, ...rates } = RATES;
  const rateRows = Object.entries(rates).map(([name, { messages_per_second, calls_per_minute }]) =>
    row(`rates.${name}`, `${messages_per_second} messages/s, ${calls_per_minute} calls/min`, name),
  );
  return [
    "| name | value | meaning, and who enforces it |",
    "|---|---|---|",
    ...limits,
    row("deviceQueueMaxBytes", bytes(DEVICE_QUEUE_MAX_BYTES), "DEVICE_QUEUE_MAX_BYTES"),
    ...times,
    ...rateRows,
    row("rates.heartbeatEvery", time(heartbeatEvery), "heartbeatEvery"),
    "",
  ].join("\n");
}

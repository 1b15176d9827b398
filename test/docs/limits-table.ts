/** The table of limits and times, made from shared/limits.ts: its values, and the comments above them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { LIMITS, RATES, TIMES } from "@matrx/shared/limits.ts";
import { ROOT } from "../../scripts/tree.ts";
import { BYTE_UNITS, inUnits, TIME_UNITS } from "./units.ts";

/** Comments by the name that they stand above. */
function comments(): Map<string, string> {
  const source = readFileSync(join(ROOT, "shared/limits.ts"), "utf8");
  const found = source.matchAll(/\/\*\* (.+) \*\/\n *(\w+):/g);
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
    row(name, name.endsWith("Bytes") ? inUnits(value, BYTE_UNITS) : String(value)),
  );
  const times = Object.entries(TIMES).map(([name, value]) => row(name, inUnits(value, TIME_UNITS)));
  const { heartbeatEvery, ...rates } = RATES;
  const rateRows = Object.entries(rates).map(
    ([name, { messages_per_second, calls_per_minute, calls_at_once }]) => {
      const atOnce = calls_at_once < calls_per_minute ? `, ${calls_at_once} at once` : "";
      const value = `${messages_per_second} messages/s, ${calls_per_minute} calls/min${atOnce}`;
      return row(`rates.${name}`, value, name);
    },
  );
  return [
    "| name | value | meaning, and who enforces it |",
    "|---|---|---|",
    ...limits,
    ...times,
    ...rateRows,
    row("rates.heartbeatEvery", inUnits(heartbeatEvery, TIME_UNITS), "heartbeatEvery"),
    "",
  ].join("\n");
}

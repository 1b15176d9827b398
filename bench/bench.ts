/** `npm run bench`: runs one of the benches, and builds the relay first if the bench starts one. `--help` lists them. */
import { buildAll } from "../scripts/build-all.ts";
import { hasCode, messageOf, Problem, reportAndExit } from "../scripts/problem.ts";
import { asksForHelp } from "../scripts/start/options.ts";
import { chooseBench, USAGE } from "./benches.ts";

const WRONG_OPTIONS = [
  "ERR_PARSE_ARGS_UNKNOWN_OPTION",
  "ERR_PARSE_ARGS_INVALID_OPTION_VALUE",
  "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL",
];

async function main(args: readonly string[]): Promise<void> {
  if (asksForHelp(args)) return console.log(`Usage: ${USAGE}`);
  const { bench, rest } = chooseBench(args);
  if (bench.needsBuild) await buildAll(console.error);
  process.argv.splice(2, args.length, ...rest);
  await bench.run().catch(explainOptions);
}

function explainOptions(error: unknown): never {
  throw hasCode(error, ...WRONG_OPTIONS) ? new Problem(`${messageOf(error)}\nUsage: ${USAGE}`) : error;
}

await main(process.argv.slice(2)).catch(reportAndExit);

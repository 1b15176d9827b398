/** `npm run bench:once`: starts each bench in its shortest form, so that one which no longer runs is noticed. CI runs it. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { buildAll } from "../scripts/build-all.ts";
import { UNAVAILABLE } from "../scripts/install-aside.ts";
import { Problem, reportAndExit } from "../scripts/problem.ts";
import { ROOT } from "../scripts/tree.ts";
import { BENCHES } from "./benches.ts";

/** In milliseconds: far more than any takes. */
const LONGEST = 120_000;
/** Nothing is compared here, so they may disturb each other. */
const AT_ONCE = 2;

interface Run {
  /** Null: it was ended by force. */
  readonly code: number | null;
  readonly printed: string;
}

function runOnce(name: string): Promise<Run> {
  const args = [join(ROOT, "bench/bench.ts"), name, "--once"];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { timeout: LONGEST }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, printed: `${stdout}${stderr}`.trimEnd() }),
    );
  });
}

const left = [...BENCHES];
const failures: string[] = [];

async function lane(): Promise<void> {
  for (let next = left.shift(); next; next = left.shift()) {
    const began = performance.now();
    const { code, printed } = await runOnce(next.name);
    const how = code === 0 ? "runs" : code === UNAVAILABLE ? "is left out" : "does not run";
    console.log(`${next.name.padEnd(9)}  ${how}, ${((performance.now() - began) / 1000).toFixed(1)} s`);
    if (code === UNAVAILABLE) console.log(printed);
    else if (code !== 0) failures.push(`${next.name} (code ${code}):\n${printed}`);
  }
}

await buildAll(console.error).catch(reportAndExit);
await Promise.all(Array.from({ length: AT_ONCE }, lane));
if (failures.length > 0) reportAndExit(new Problem(`Benches do not run.\n${failures.join("\n")}`));

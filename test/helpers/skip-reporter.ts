/** At the end of a run: each reason why tests were skipped, once, with their number. */
import type { Reporter, TestCase, TestModule, TestSuite } from "vitest/node";

export default class SkipReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = new Map<string, number>();
    for (const module of modules) {
      for (const test of module.children.allTests("skipped")) {
        const why = reasonFor(test);
        if (why !== undefined) counts.set(why, (counts.get(why) ?? 0) + 1);
      }
    }
    if (counts.size === 0) return;
    console.log("\n Skipped");
    for (const [why, count] of counts) console.log(`  ${String(count).padStart(4)}  ${why}`);
  }
}

/** Undefined: left out by the filter of the run. */
function reasonFor(test: TestCase): string | undefined {
  const result = test.result();
  if (result.state === "skipped" && result.note !== undefined) return result.note;
  for (let task: TestCase | TestSuite | TestModule = test; task.type !== "module"; task = task.parent) {
    const { needs } = task.meta();
    if (needs !== undefined) return needs;
  }
  return undefined;
}

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Result } from "axe-core";
import type { Page } from "playwright-core";

/** In its shorter form: each page that is opened has to read it. */
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** All that axe-core looked at besides would take longer to fetch than to look at. */
const VIOLATIONS = 'axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations)';

/** What axe-core says is wrong with the page as it is now. */
export async function objections(page: Page): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(AXE);
  const violations = await page.evaluate<Result[]>(VIOLATIONS);
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target }) => `${id}: ${help}: ${target.join(" ")}`),
  );
}

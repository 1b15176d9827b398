import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Result, RunOptions } from "axe-core";
import type { Page } from "playwright-core";

/** In its shorter form: each page that is opened has to read it. */
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The rules whose answer is another one in another theme. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

/** What axe-core says is wrong with the page as it is now. */
export function objections(page: Page): Promise<string[]> {
  return violations(page, {});
}

/** The same of its colours alone, for the second theme of a page that has passed in the first. */
export function contrastObjections(page: Page): Promise<string[]> {
  return violations(page, { runOnly: OF_COLOURS });
}

async function violations(page: Page, options: RunOptions): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(AXE);
  // All that axe-core looked at besides would take longer to fetch than to look at.
  const wanted = JSON.stringify({ ...options, resultTypes: ["violations"] });
  const found = await page.evaluate<Result[]>(`axe.run(${wanted}).then(({ violations }) => violations)`);
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target }) => `${id}: ${help}: ${target.join(" ")}`),
  );
}

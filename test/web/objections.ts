import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";

/** What axe-core says is wrong with the page as it is now. */
export async function objections(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>("axe.run()");
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target }) => `${id}: ${help}: ${target.join(" ")}`),
  );
}

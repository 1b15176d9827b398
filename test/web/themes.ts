/** A page in dark and in light, without opening it twice. */
import type { Page } from "playwright-core";
import { expect } from "vitest";

type Theme = "dark" | "light";
type Look = (theme: Theme) => Promise<void>;

/** The theme that the page has comes first. One that was chosen in the settings is the only one. */
const THEMES = `(() => {
  const chosen = localStorage.getItem("matrx-color-scheme");
  if (chosen === "dark" || chosen === "light") return [chosen];
  return matchMedia("(prefers-color-scheme: dark)").matches ? ["dark", "light"] : ["light", "dark"];
})()`;

const MOVING = "document.getAnimations().filter((one) => one instanceof CSSTransition).length";

/** Looks at the page in each theme that the system can give it, and leaves it in the theme that it had. */
export async function inEachTheme(page: Page, look: Look, lookAgain: Look): Promise<void> {
  const [first, second] = await page.evaluate<[Theme, Theme?]>(THEMES);
  await settleIn(page, first);
  await look(first);
  if (!second) return;
  await page.emulateMedia({ colorScheme: second });
  await settleIn(page, second);
  await lookAgain(second);
  await page.emulateMedia({ colorScheme: first });
  await settleIn(page, first);
}

/** The page has taken the theme, if it does so by a script, and no colour is on its way to another any more. */
async function settleIn(page: Page, theme: Theme): Promise<void> {
  const other = page.locator(`html[data-mantine-color-scheme]:not([data-mantine-color-scheme="${theme}"])`);
  await other.waitFor({ state: "detached" });
  await expect.poll(() => page.evaluate<number>(MOVING)).toBe(0);
}

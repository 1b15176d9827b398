/** Takes pictures of pages, and notes what no page may have: width beyond the screen, errors in the console. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { SCREENS, type Screen } from "../web/app.ts";

export interface Look {
  readonly screen: Screen;
  readonly dark: boolean;
}

export const LOOKS: readonly Look[] = (["desktop", "phone"] as const).flatMap((screen) =>
  [true, false].map((dark) => ({ screen, dark })),
);

export function lookName({ screen, dark }: Look): string {
  return `${screen}-${dark ? "dark" : "light"}`;
}

/** A picture shows no more of a long page, in heights of the screen. */
const MOST_SCREENS = 2.5;

/** A browser of a person's own. */
export async function openContext(browser: Browser, { screen, dark }: Look): Promise<BrowserContext> {
  const context = await browser.newContext({
    ...SCREENS[screen],
    colorScheme: dark ? "dark" : "light",
    reducedMotion: "reduce",
    serviceWorkers: "block",
    permissions: ["clipboard-write"],
  });
  await context.addInitScript(WITHOUT_LAST_TERMINALS);
  return context;
}

/** No picture begins with the terminals of the one before. */
const WITHOUT_LAST_TERMINALS = `if (location.protocol === "http:")
  for (const key of Object.keys(localStorage))
    if (key.startsWith("matrx-last:terminals:")) localStorage.removeItem(key);`;

/** Adds to `faults` what goes wrong on the page from now on. */
export function watch(page: Page, faults: string[]): void {
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
}

/** Writes the picture. Returns by how many pixels the page is wider than the screen. */
export async function take(page: Page, file: string): Promise<number> {
  await page.evaluate("document.fonts.ready");
  const { clientWidth, clientHeight, scrollWidth, scrollHeight } = await page.evaluate<Size>(SIZE);
  // A taller screen, so that what sticks to its edges stays there.
  const height = Math.min(scrollHeight, Math.round(clientHeight * MOST_SCREENS));
  await page.setViewportSize({ width: clientWidth, height });
  await page.screenshot({ path: file, animations: "disabled" });
  return scrollWidth - clientWidth;
}

type Size = Readonly<Record<"clientWidth" | "clientHeight" | "scrollWidth" | "scrollHeight", number>>;

const SIZE = `(({ clientWidth, clientHeight, scrollWidth, scrollHeight }) =>
  ({ clientWidth, clientHeight, scrollWidth, scrollHeight }))(document.documentElement)`;

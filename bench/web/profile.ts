/** A folder of Chromium's in which somebody is signed in, and which has no file of the app's in its cache. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { CHROMIUM, CHROMIUM_ARGS } from "../../test/helpers/browser.ts";

const CACHES = ["Cache", "Code Cache", "Service Worker", "GPUCache"];

/** `link`: signs in, once. `shows`: what stands on the page then. */
export async function signedInProfile(folder: string, link: string, shows: string): Promise<void> {
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: CHROMIUM ?? "chromium",
    args: [...CHROMIUM_ARGS],
    serviceWorkers: "block",
  });
  const page = await context.newPage();
  await page.goto(link);
  await page.getByText(shows).first().waitFor();
  await context.close();
  for (const cache of CACHES) rmSync(join(folder, "Default", cache), { recursive: true, force: true });
}

/** The app in a real Chromium, against a real relay with a real agent: on a desktop and on a phone, signed in. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { startBrowser } from "../helpers/browser.ts";
import { connectMachine, type Machine } from "../helpers/machine.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { objections } from "./objections.ts";
import { inEachTheme } from "./themes.ts";

export const SCREENS = {
  desktop: { viewport: { width: 1440, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
} as const satisfies Record<string, BrowserContextOptions>;

type RelayOptions = NonNullable<Parameters<typeof startRelay>[0]>;

export type Screen = keyof typeof SCREENS;

export interface Opened {
  readonly page: Page;
  /** What the page must not have: errors, refusals of the Content-Security-Policy, uncaught rejections. */
  readonly faults: readonly string[];
}

export interface OpenOptions {
  readonly screen?: Screen;
  /** With the service worker, which otherwise stays out of the way. */
  readonly workers?: boolean;
  /** More of the browser, such as its name. */
  readonly context?: BrowserContextOptions;
  /** A script that runs before the page's own. */
  readonly before?: string;
}

export interface App {
  readonly relay: TestRelay;
  readonly machine: Machine;
  readonly browser: Browser;
  /** Opens a page of the app in a browser of its own, signed in as the owner; `path` begins with a slash, and has no fragment. */
  open(path: string, options?: OpenOptions): Promise<Opened>;
  /** The same, with nobody signed in. */
  openSignedOut(path: string, options?: OpenOptions): Promise<Opened>;
}

/**
 * Starts them before the tests of a file, and ends them after. `relayOptions`: how the relay is started; `browserArgs`: more of
 * Chromium's own options.
 */
export function startApp(
  relayOptions: () => Promise<RelayOptions> = async () => ({}),
  ...browserArgs: string[]
): App {
  let relay: TestRelay;
  let machine: Machine;
  let browser: Browser;
  beforeAll(async () => {
    relay = await startRelay(await relayOptions());
    machine = await connectMachine(relay);
    browser = await startBrowser(...browserArgs);
  });
  afterAll(async () => {
    await browser?.close();
    await machine?.agent.stop();
    await relay?.stop();
  });

  async function openSignedOut(
    path: string,
    { screen = "desktop", workers = false, context: more, before }: OpenOptions = {},
  ): Promise<Opened> {
    const context = await browser.newContext({
      ...SCREENS[screen],
      colorScheme: "dark",
      reducedMotion: "reduce",
      serviceWorkers: workers ? "allow" : "block",
      ...more,
    });
    onTestFinished(() => context.close());
    if (before) await context.addInitScript(before);
    const page = await context.newPage();
    const faults = faultsOf(page);
    if (path) await page.goto(`${relay.url}${APP}${path}`);
    return { page, faults };
  }

  return {
    get relay() {
      return relay;
    },
    get machine() {
      return machine;
    },
    get browser() {
      return browser;
    },
    openSignedOut,
    async open(path, options) {
      const opened = await openSignedOut("", options);
      const { page } = opened;
      const [, code] = (await relay.signInLink()).split("#");
      await page.goto(`${relay.url}${APP}${path}#${code}`);
      await page.getByRole("navigation").first().waitFor();
      await page.locator("#page-title").waitFor();
      return opened;
    },
  };
}

/** Where the app is served. */
export const APP = "";

/** What axe-core objects to, on the page as it is now, in dark and in light, and whether it is wider than the screen. */
export async function expectNoObjections({ page, faults }: Opened): Promise<void> {
  await inEachTheme(page, async (theme) => expect(await objections(page), `in ${theme}`).toEqual([]));
  const overflow = await page.evaluate<number>(
    "document.documentElement.scrollWidth - document.documentElement.clientWidth",
  );
  expect(overflow, "the page scrolls sideways").toBe(0);
  expect(faults).toEqual([]);
}

/** What a finger could miss: text and height of targets lower than so many pixels. Looked at at once, since lists go on changing. */
export function smallTargets(page: Page, selector: string, least: number): Promise<string[]> {
  return page.evaluate<string[]>(
    `[...document.querySelectorAll(${JSON.stringify(selector)})]
      .filter((one) => one.checkVisibility() && one.offsetHeight < ${least})
      .map((one) => one.innerText + ": " + one.offsetHeight)`,
  );
}

/** Faults of a page that is opened elsewhere than here, from now on. */
export function faultsOf(page: Page): string[] {
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    const text = message.text();
    if (
      /Content Security Policy|TrustedHTML|TrustedScript|Maximum update depth|Each child in a list/.test(text)
    )
      faults.push(text);
  });
  return faults;
}

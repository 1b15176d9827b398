/** The app in a real Chromium, against a real relay with a real agent: on a desktop and on a phone, signed in. */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { startBrowser } from "../helpers/browser.ts";
import { connectMachine, type Machine } from "../helpers/machine.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { contrastObjections, objections } from "./objections.ts";
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
  /**
   * Opens a page of the app, signed in as the owner; `path` begins with a slash, and has no fragment. Pages on the same screen
   * have one session in a file, and nothing else in common: what the browser stored is gone with each test. Those with more
   * options than a screen have a browser of their own.
   */
  open(path: string, options?: OpenOptions): Promise<Opened>;
  /** The same, always with a browser and a session of its own. */
  openAlone(path: string, options?: OpenOptions): Promise<Opened>;
  /** The same, with nobody signed in. */
  openSignedOut(path: string, options?: OpenOptions): Promise<Opened>;
  /** For a test that ends sessions, or changes what their pages have in common, such as the clock: the next has new ones. */
  renewAfterTest(): void;
}

export interface AppOptions {
  /** How the relay is started. */
  readonly relay?: () => Promise<RelayOptions>;
  /** Which browser, with which options of Chromium's. */
  readonly browser?: () => Promise<Browser>;
}

/** Starts them before the tests of a file, and ends them after. */
export function startApp({
  relay: relayOptions = async () => ({}),
  browser: start = startBrowser,
}: AppOptions = {}): App {
  let relay: TestRelay;
  let machine: Machine;
  let browser: Browser;
  const signedIn = new Map<Screen, BrowserContext>();
  beforeAll(async () => {
    relay = await startRelay(await relayOptions());
    machine = await connectMachine(relay);
    browser = await start();
  });
  afterAll(async () => {
    await browser?.close();
    await machine?.agent.stop();
    await relay?.stop();
  });

  const newContext = ({ screen = "desktop", workers = false, context }: OpenOptions) =>
    browser.newContext({
      ...SCREENS[screen],
      colorScheme: "dark",
      reducedMotion: "reduce",
      serviceWorkers: workers ? "allow" : "block",
      ...context,
    });

  /** Its first page is a picture, and stays: it keeps the renderer's process, with the scripts that are compiled there. */
  async function newWarmContext(screen: Screen): Promise<BrowserContext> {
    const context = await newContext({ screen });
    const picture = await context.newPage();
    await picture.goto(`${relay.url}${APP}/icon.svg`);
    return context;
  }

  async function newPage(context: BrowserContext): Promise<Opened> {
    const page = await context.newPage();
    routeAtOnce(page);
    return { page, faults: faultsOf(page) };
  }

  async function openSignedOut(path: string, options: OpenOptions = {}): Promise<Opened> {
    const context = await newContext(options);
    onTestFinished(() => context.close());
    if (options.before) await context.addInitScript(options.before);
    const opened = await newPage(context);
    if (path) await opened.page.goto(`${relay.url}${APP}${path}`);
    return opened;
  }

  async function signInAt(page: Page, path: string): Promise<void> {
    const [, code] = (await relay.signInLink()).split("#");
    await page.goto(`${relay.url}${APP}${path}#${code}`);
    await untilShown(page);
  }

  async function openAlone(path: string, options?: OpenOptions): Promise<Opened> {
    const opened = await openSignedOut("", options);
    await signInAt(opened.page, path);
    return opened;
  }

  async function openShared(path: string, screen: Screen): Promise<Opened> {
    const known = signedIn.get(screen);
    const context = known ?? (await newWarmContext(screen));
    const isFirst = context.pages().length === 1;
    onTestFinished(() => closePages(context));
    const opened = await newPage(context);
    const { page } = opened;
    if (isFirst) await forgetStored(page, relay.url);
    if (known) {
      await page.goto(`${relay.url}${APP}${path}`);
      await untilShown(page);
    } else {
      await signInAt(page, path);
      signedIn.set(screen, context);
    }
    return opened;
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
    openAlone,
    open: (path, { screen = "desktop", ...more } = {}) =>
      Object.keys(more).length === 0 ? openShared(path, screen) : openAlone(path, { screen, ...more }),
    renewAfterTest: () =>
      onTestFinished(async () => {
        const ended = [...signedIn.values()];
        signedIn.clear();
        for (const context of ended) await context.close();
      }),
  };
}

/** The page knows who is signed in, and has drawn what its address is of. */
async function untilShown(page: Page): Promise<void> {
  // Playwright itself would look only every half second after the first quarter.
  await expect
    .poll(
      () =>
        page.evaluate<boolean>("!!document.querySelector('nav') && !!document.querySelector('#page-title')"),
      {
        interval: 20,
      },
    )
    .toBe(true);
}

async function closePages(context: BrowserContext): Promise<void> {
  for (const page of context.pages().slice(1)) await page.close();
}

/** What an earlier test's pages stored, but for the session's key, which is elsewhere. */
async function forgetStored(page: Page, origin: string): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Storage.clearDataForOrigin", { origin, storageTypes: "local_storage" });
  await devtools.detach();
}

/** Where the app is served. */
export const APP = "";

/** What axe-core objects to, on the page as it is now, and to its colours in the other theme; and as `expectFitting`. */
export async function expectNoObjections(opened: Opened): Promise<void> {
  const { page } = opened;
  await inEachTheme(
    page,
    async (theme) => expect(await objections(page), `in ${theme}`).toEqual([]),
    async (theme) => expect(await contrastObjections(page), `in ${theme}`).toEqual([]),
  );
  await expectFitting(opened);
}

/** The page as it is now is not wider than the screen, and has no faults. For what axe-core is asked elsewhere. */
export async function expectFitting({ page, faults }: Opened): Promise<void> {
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

const PROBE = "**/intercepted";

/**
 * Has `page.route` resolve once a request of the page is answered by a route: Chromium confirms that it intercepts before a busy
 * page knows, so that what it asks for at once would go to the relay.
 */
export function routeAtOnce(page: Page): void {
  const route = page.route.bind(page);
  page.route = async (...wish) => {
    const routed = await route(...wish);
    // A page that is loaded later is intercepted from its first request.
    if (!page.url().startsWith("http")) return routed;
    await route(PROBE, (one) => one.fulfill({ status: 204 }));
    const ask = () => page.evaluate<number>(`fetch("/intercepted").then(({ status }) => status)`);
    await expect.poll(ask, { interval: 20 }).toBe(204);
    await page.unroute(PROBE);
    return routed;
  };
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

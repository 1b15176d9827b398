/**
 * `npm run screens`: a picture of every page of the app, on a desktop and on a phone, dark and light, in the folder screens/.
 * What follows `--` are beginnings of their names: only those are taken; `--look phone-dark` takes only those of that look. Ends with code 1 if a page scrolls sideways or
 * has errors in its console.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { buildAll } from "../../scripts/build-all.ts";
import { messageOf, reportAndExit } from "../../scripts/problem.ts";
import { ROOT } from "../../scripts/tree.ts";
import { startBrowser } from "../helpers/browser.ts";
import { APP } from "../web/app.ts";
import { LOOKS, type Look, lookName, openContext, take, watch } from "./camera.ts";
import type { Shot } from "./file-shots.ts";
import { type Household, startHousehold } from "./household.ts";
import { codeOf } from "./people.ts";
import { OFFLINE, SHOTS } from "./shots.ts";

const FOLDER = join(ROOT, "screens");
/** A page must show what it is about within, in milliseconds. */
const WITHIN = 30_000;

type Who = "owner" | "friend" | "nobody";

interface Visitor {
  readonly look: Look;
  readonly contexts: Readonly<Record<Who, BrowserContext>>;
}

const { values: options, positionals: wanted } = parseArgs({
  options: { look: { type: "string", multiple: true } },
  allowPositionals: true,
});
const looks = LOOKS.filter((look) => options.look?.includes(lookName(look)) ?? true);
const isWanted = ({ name }: Shot) => wanted.length === 0 || wanted.some((start) => name.startsWith(start));
const shots = SHOTS.filter(isWanted);
const offline = OFFLINE.filter(isWanted);
let taken = 0;
let faulty = 0;

await buildAll(console.error).catch(reportAndExit);
console.log("Starting the relay, machines and people ...");
mkdirSync(FOLDER, { recursive: true });
const home = await startHousehold(looks.length);
const browser = await startBrowser();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.once(signal, () => void leave().finally(() => process.exit(1)));
try {
  const visitors: Visitor[] = [];
  for (const [at, look] of looks.entries()) visitors.push(await visit(browser, home, look, at));
  for (const visitor of visitors) {
    await home.keepAsking();
    for (const shot of shots) await shoot(visitor, shot);
  }
  if (offline.length > 0) await shootOffline(visitors);
} finally {
  await leave();
}
console.log(`${taken} pictures are in ${FOLDER}${faulty ? `; ${faulty} of them are of faulty pages` : ""}`);
process.exit(faulty === 0 ? 0 : 1);

async function leave(): Promise<void> {
  await browser.close();
  await home.stop();
}

async function visit(
  chromium: Browser,
  { relay, people }: Household,
  look: Look,
  at: number,
): Promise<Visitor> {
  const [owner, friend, nobody] = await Promise.all([
    openContext(chromium, look),
    openContext(chromium, look),
    openContext(chromium, look),
  ]);
  await signIn(owner, `${relay.url}${APP}#${codeOf(await relay.signInLink())}`);
  await signIn(friend, `${relay.url}${APP}#${codeOf(people.guestLinks[at] ?? "")}`);
  return { look, contexts: { owner, friend, nobody } };
}

async function signIn(context: BrowserContext, link: string): Promise<void> {
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole("navigation").first().waitFor();
  await page.close();
}

/** `faults`: where errors of the page go. */
async function open({ contexts }: Visitor, { who, path, until }: Shot, faults: string[]): Promise<Page> {
  const page = await contexts[who ?? "owner"].newPage();
  page.setDefaultTimeout(WITHIN);
  watch(page, faults);
  await page.goto(`${home.relay.url}${APP}${path(home)}`);
  await page.locator("#page-title").first().waitFor();
  if (who !== "nobody" && !isAtDoor(path(home)))
    await page.getByText("Connected", { exact: true }).first().waitFor({ state: "attached" });
  await until?.(page, home);
  // Lists that are still on their way are no picture of a page.
  await page.locator(".mantine-Loader-root:visible").first().waitFor({ state: "detached" });
  return page;
}

/** The page stands alone, without the app's frame. */
function isAtDoor(path: string): boolean {
  return path.startsWith("#") || path.startsWith("/authorize");
}

async function shoot(visitor: Visitor, shot: Shot): Promise<void> {
  await report(visitor, shot, async (faults) => {
    const page = await open(visitor, shot, faults);
    await picture(page, visitor, shot, faults);
    await page.close();
    await shot.after?.(home);
  });
}

/** The pages are opened first, and the relay goes away behind them. */
async function shootOffline(visitors: readonly Visitor[]): Promise<void> {
  const opened: { visitor: Visitor; shot: Shot; page: Page }[] = [];
  for (const visitor of visitors)
    for (const shot of offline) opened.push({ visitor, shot, page: await open(visitor, shot, []) });
  await home.relay.stop();
  for (const { visitor, shot, page } of opened)
    await report(visitor, shot, async (faults) => {
      await page
        .getByText(/Reconnecting|Can't reach/)
        .first()
        .waitFor();
      await picture(page, visitor, shot, faults);
      await page.close();
    });
}

async function picture(page: Page, { look }: Visitor, { name }: Shot, faults: string[]): Promise<void> {
  const beyond = await take(page, join(FOLDER, `${name}-${lookName(look)}.png`));
  if (beyond > 0) faults.push(`It scrolls sideways, by ${beyond} px`);
}

/** Says how it went; one that fails ends nothing. */
async function report(
  { look }: Visitor,
  { name, mayFail }: Shot,
  work: (faults: string[]) => Promise<void>,
): Promise<void> {
  const faults: string[] = [];
  await work(faults).catch((error: unknown) => faults.push(messageOf(error)));
  const wrong = faults.filter((fault) => !mayFail?.test(fault));
  taken++;
  if (wrong.length > 0) faulty++;
  console.log(
    `${wrong.length === 0 ? "  " : "! "}${name}-${lookName(look)}${wrong.map((one) => `\n    ${one}`).join("")}`,
  );
}

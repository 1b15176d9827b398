/**
 * `npm run bench web`: what Lighthouse finds on the app's sign-in page and on the list of machines, as a phone loads them for
 * the first time from the embedded relay, and what that load consists of. Lighthouse is installed beside the tree the first
 * time. `--quick`: one look at each page. Figures: bench/web-results.json.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { installAside, UNAVAILABLE } from "../scripts/install-aside.ts";
import { Problem, reportAndExit } from "../scripts/problem.ts";
import { LIGHTHOUSE, ROOT } from "../scripts/tree.ts";
import { CHROMIUM } from "../test/helpers/browser.ts";
import { connectMachine } from "../test/helpers/machine.ts";
import { startRelay } from "../test/helpers/relay.ts";
import { APP } from "../test/web/app.ts";
import { say, withProcesses } from "./interrupt.ts";
import { describeMachine } from "./machine.ts";
import type { Processes } from "./processes.ts";
import { Size } from "./size.ts";
import { spreadOf } from "./spread.ts";
import { printMachine, withSpread } from "./table.ts";
import { kibOf, kindsOf, largest } from "./web/first-load.ts";
import { lookAt, type Report } from "./web/lighthouse.ts";
import { signedInProfile } from "./web/profile.ts";

const size = new Size();
/** Lighthouse is large: `--once` goes without, until the app is signed in. */
const LOOKS = size.pick(5, 1, 0);
const GIVE_UP = 1_200_000;
const LISTED = 8;
const AIMS = { performance: 95, accessibility: 100, "best-practices": 100 } as const;
const RESULTS = new URL("./web-results.json", import.meta.url);

type Category = keyof typeof AIMS;
const CATEGORIES: readonly Category[] = ["performance", "accessibility", "best-practices"];

if (CHROMIUM === undefined)
  reportAndExit(new Problem("This needs Chromium: apt-get install chromium, or name it in CHROMIUM."));
if (LOOKS === 0 || (await installLighthouse())) await withProcesses(GIVE_UP, run).catch(reportAndExit);
else process.exitCode = UNAVAILABLE;

async function run(processes: Processes): Promise<void> {
  const machine = describeMachine();
  printMachine(machine);
  const relay = await startRelay();
  const { agent } = await connectMachine(relay);
  processes.atEnd(async () => {
    await agent.stop();
    await relay.stop();
  });
  const nobody = join(processes.folder, "nobody");
  mkdirSync(nobody);
  const owner = join(processes.folder, "owner");
  say("Signing in");
  const link = `${relay.url}${APP}#${(await relay.signInLink()).split("#")[1]}`;
  await signedInProfile(owner, link, "1 of 1 online");
  const url = `${relay.url}${APP}/fleet`;
  if (LOOKS === 0) return;
  const pages = [await pageOf("sign-in", url, nobody), await pageOf("list of machines", url, owner)];
  const date = new Date().toISOString();
  const found = { date, quick: size.quick, looks: LOOKS, machine, pages };
  size.keep(RESULTS, JSON.stringify(found, rounded, 2));
}

async function pageOf(name: string, url: string, profile: string) {
  const reports: Report[] = [];
  for (let look = 1; look <= LOOKS; look++) {
    reports.push(await lookAt(url, profile));
    say(`${name}: look ${look} of ${LOOKS}`);
  }
  const scores = CATEGORIES.map((category) => {
    const points = spreadOf(reports.map((report) => report.scores[category]));
    return { category, points, at_least: AIMS[category], reached: points.median >= AIMS[category] };
  });
  const [{ times = {}, loaded = [], lighthouse = "" } = {}] = reports;
  const page = {
    ...{ page: name, lighthouse, scores },
    machine_speed: spreadOf(reports.map(({ speed }) => speed)),
    times: Object.keys(times).map((what) => ({
      what,
      value: spreadOf(reports.map((report) => report.times[what] ?? Number.NaN)),
    })),
    costs: [...new Set(reports.flatMap(({ costs }) => costs))].join(", "),
    first_load: { kib: kibOf(loaded), kinds: kindsOf(loaded), largest: largest(loaded, LISTED) },
  };
  print(page);
  return page;
}

function print({
  page,
  lighthouse,
  scores,
  machine_speed,
  times,
  costs,
  first_load,
}: Awaited<ReturnType<typeof pageOf>>): void {
  console.log(`\n${page}, Lighthouse ${lighthouse}`);
  for (const { category, points, at_least, reached } of scores)
    console.log(
      `  ${category.padEnd(16)} ${withSpread(points, 0)}, at least ${at_least}: ${reached ? "reached" : "NOT reached"}`,
    );
  for (const { what, value } of times)
    console.log(`  ${what.padEnd(16)} ${withSpread(value, what === "layout shift" ? 3 : 0)}`);
  console.log(`  machine's speed  ${withSpread(machine_speed, 0)}`);
  if (costs) console.log(`  costs points     ${costs}`);
  console.log(`  first load: ${first_load.kib.toFixed(0)} KiB`);
  for (const { kind, files, kib } of first_load.kinds)
    console.log(`    ${kind.padEnd(14)} ${kib.toFixed(1).padStart(6)} KiB in ${files}`);
  for (const { name, kib } of first_load.largest)
    console.log(`    ${kib.toFixed(1).padStart(6)} KiB ${name}`);
}

function installLighthouse(): Promise<boolean> {
  return installAside({ from: join(ROOT, "bench/web"), into: LIGHTHOUSE, megabytes: 180 });
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" ? Number(value.toPrecision(5)) : value;
}

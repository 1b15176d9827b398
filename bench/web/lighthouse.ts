/** Lighthouse, as a program of its own, and what it reports. */
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as z from "zod";
import { LIGHTHOUSE } from "../../scripts/tree.ts";
import { CHROMIUM, CHROMIUM_ARGS } from "../../test/helpers/browser.ts";
import { type Ended, lighthouseProblem } from "./lighthouse-problem.ts";

const run = promisify(execFile);
const PROGRAM = join(LIGHTHOUSE, "node_modules/lighthouse/cli/index.js");
const WITHIN = 180_000;
const CATEGORIES = ["performance", "accessibility", "best-practices"] as const;

const requestSchema = z.object({
  url: z.string(),
  resourceType: z.string().optional(),
  transferSize: z.number().optional(),
  sessionTargetType: z.string().optional(),
});
export type Loaded = z.infer<typeof requestSchema>;

const reportSchema = z.object({
  lighthouseVersion: z.string(),
  environment: z.object({ benchmarkIndex: z.number() }),
  categories: z.record(
    z.enum(CATEGORIES),
    z.object({
      score: z.number().nullable(),
      auditRefs: z.array(z.object({ id: z.string(), weight: z.number() })),
    }),
  ),
  audits: z.record(
    z.string(),
    z.object({
      title: z.string(),
      score: z.number().nullable(),
      numericValue: z.number().optional(),
      details: z.unknown().optional(),
    }),
  ),
});

/** Whatever else a report of a failure has. */
const failureSchema = z.object({ runtimeError: z.object({ code: z.string(), message: z.string() }) });

export interface Report {
  readonly lighthouse: string;
  /** How fast this machine was just then, as Lighthouse measures it: a quiet desktop has about 2000. */
  readonly speed: number;
  /** Of 100. */
  readonly scores: Readonly<Record<(typeof CATEGORIES)[number], number>>;
  /** In milliseconds, but for the shift of the layout, which has no unit. */
  readonly times: Readonly<Record<string, number>>;
  /** What costs points. */
  readonly costs: readonly string[];
  /** What the page itself loaded. */
  readonly loaded: readonly Loaded[];
}

const TIMES = {
  "first paint": "first-contentful-paint",
  "largest paint": "largest-contentful-paint",
  blocked: "total-blocking-time",
  "speed index": "speed-index",
  "layout shift": "cumulative-layout-shift",
} as const;

/**
 * Looks at `url` as a phone on a slow network would load it for the first time. `profile`: a folder of Chromium's, which stays as
 * it is. `program`: Lighthouse's own. Throws Problem when it fails.
 */
export async function lookAt(url: string, profile: string, program = PROGRAM): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "matrx-lighthouse-"));
  try {
    const own = join(folder, "profile");
    cpSync(profile, own, { recursive: true });
    const file = join(folder, "report.json");
    const flags = ["--headless=new", ...CHROMIUM_ARGS, `--user-data-dir=${own}`];
    const args = [
      ...[program, url, "--quiet"],
      ...["--output=json", `--output-path=${file}`, `--only-categories=${CATEGORIES.join()}`],
      // Whoever is signed in stays so. The profile has no file of the page's yet.
      ...["--disable-storage-reset", `--chrome-flags=${flags.join(" ")}`],
    ];
    const env = { ...process.env, ...(CHROMIUM && { CHROME_PATH: CHROMIUM }) };
    const ended = await run(process.execPath, args, { timeout: WITHIN, env }).then(
      (): Ended => ({ code: 0 }),
      (error: Ended) => error,
    );
    const found = existsSync(file) ? parsed(readFileSync(file, "utf8")) : undefined;
    const error = failureSchema.safeParse(found).data?.runtimeError;
    const report = reportSchema.safeParse(found).data;
    if (ended.code !== 0 || error || !report) throw lighthouseProblem(url, ended, error);
    return reportOf(report);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Undefined: it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reportOf({
  lighthouseVersion,
  environment,
  categories,
  audits,
}: z.infer<typeof reportSchema>): Report {
  const score = (name: (typeof CATEGORIES)[number]) => Math.round((categories[name].score ?? 0) * 100);
  const weighed = CATEGORIES.flatMap((name) => categories[name].auditRefs.filter(({ weight }) => weight > 0));
  const costs = weighed.flatMap(({ id }) => {
    const audit = audits[id];
    return audit?.score != null && audit.score < 0.995 ? [audit.title] : [];
  });
  const requests = z.object({ items: z.array(requestSchema) }).parse(audits["network-requests"]?.details);
  return {
    lighthouse: lighthouseVersion,
    speed: environment.benchmarkIndex,
    scores: {
      performance: score("performance"),
      accessibility: score("accessibility"),
      "best-practices": score("best-practices"),
    },
    times: Object.fromEntries(
      Object.entries(TIMES).map(([name, id]) => [name, audits[id]?.numericValue ?? Number.NaN]),
    ),
    costs,
    loaded: requests.items.filter(({ sessionTargetType: type }) => type === undefined || type === "page"),
  };
}

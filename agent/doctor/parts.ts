/** The parts that a device may lack: what each is for, and how to get it. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { capture } from "../desktop/capture.ts";
import { Desktop } from "../desktop/desktop.ts";
import { findProgram } from "../platform/find-program.ts";
import { optionalPrograms } from "../platform/optional-programs.ts";
import type { Platform } from "../platform/platform.ts";
import { ProgramFailed, runProgram } from "../platform/program.ts";
import { findRipgrep } from "../search/find-ripgrep.ts";
import { lackOfSystemLog } from "../system-log/lack.ts";
import type { Lack } from "../tool.ts";
import { type Check, type Finding, missing, ok } from "./finding.ts";

/** Each part must answer within, in milliseconds. */
const WITHIN = 15_000;

export function partChecks(platform: Platform): readonly Check[] {
  return [
    { name: "search", look: search },
    { name: "screenshots", look: () => screenshots(platform) },
    { name: "opening", look: () => opening(platform) },
    { name: "system log", look: () => systemLog(platform) },
    {
      name: "terminals",
      look: () => missing("this version has none", "Use Bash, in the background if it takes long"),
    },
    { name: "browser", look: () => browser(platform) },
    { name: "sandbox", look: () => sandbox(platform) },
  ];
}

async function search(): Promise<Finding> {
  const ripgrep = await findRipgrep();
  if (ripgrep) return ok(`ripgrep ${ripgrep.version} (${ripgrep.file})`);
  return missing("no ripgrep: Grep and Glob search by themselves, several times slower", "Install ripgrep");
}

/** A real picture, which nobody gets to see. */
async function screenshots(platform: Platform): Promise<Finding> {
  const desktop = new Desktop({ platform });
  const wanted = { format: "jpeg", monitor: undefined, mostBytes: Number.MAX_SAFE_INTEGER } as const;
  try {
    const picture = await capture(desktop, wanted, AbortSignal.timeout(WITHIN));
    const fact = `${picture.width}x${picture.height} by ${picture.by}`;
    if (!picture.isOneColour) return ok(fact);
    return missing(`${fact}, but of one colour all over`, platform.desktop.blankHint);
  } catch (error) {
    if (!(error instanceof MatrxError)) throw error;
    return missing(error.message, error.hint ?? "");
  } finally {
    desktop.close();
  }
}

/** As far as it shows without opening something before the person. */
async function opening(platform: Platform): Promise<Finding> {
  const desktop = new Desktop({ platform });
  const lack = await desktop.lackOfOpener();
  desktop.close();
  return lack
    ? notOffered(lack, "OpenUrl, OpenPath and open_app")
    : ok("there is a screen, and what opens things on it");
}

function systemLog(platform: Platform): Finding {
  const lack = lackOfSystemLog(platform, process.env);
  return lack ? notOffered(lack, "SystemLog") : ok("there is one that the agent may read");
}

function notOffered({ why, help }: Lack, tools: string): Finding {
  return missing(`${why}: ${tools} cannot work`, help);
}

function browser(platform: Platform): Finding {
  const { env } = process;
  for (const name of optionalPrograms(platform).browsers(env)) {
    const found = findProgram(name, env);
    if (found) return ok(found);
  }
  return missing("no Chrome, Edge or Chromium was found", "Tools of later versions need one to render pages");
}

async function sandbox(platform: Platform): Promise<Finding> {
  const { sandbox: way } = optionalPrograms(platform);
  const without = "commands of others than the owner are refused";
  if (!way) return missing(`none is known for ${platform.name}: ${without}`, "Nothing to do");
  const found = findProgram(way.program, process.env);
  if (!found) return missing(`${way.program} is not there: ${without}`, way.hint);
  try {
    await runProgram(found, way.args, { timeoutMs: WITHIN });
    return ok(`${found} works; this version does not use it yet`);
  } catch (error) {
    if (!(error instanceof ProgramFailed)) throw error;
    return missing(`${found} does not work (${error.message}): ${without}`, way.hint);
  }
}

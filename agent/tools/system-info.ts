/** The tool that describes this machine. */
import os from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { defineTool, type ToolContext } from "../core/tool.ts";
import type { Files } from "../fs/access.ts";
import { roomAt } from "../platform/disk-room.ts";
import { bareEnvironment } from "../platform/environment.ts";
import type { Platform } from "../platform/platform.ts";
import { findProgram, runProgram } from "../platform/run-program.ts";

/** How long to wait for each part, in milliseconds: a dead network drive must not hold up the others. */
const PART_MS = 2000;

const input = z.strictObject({});

export function systemInfoTool(files: Files) {
  const { platform } = files;
  let python: Promise<string | null> | undefined;
  return defineTool({
    name: "SystemInfo",
    family: "system",
    effect: "read",
    confinable: true,
    description:
      "Get facts about the device: system, hostname, versions, working directory, user, processor, memory, disk, uptime.",
    input,
    model: { prompt: "Get OS/platform details", always: true },
    timeoutMs: 15_000,
    async handle(_input, context) {
      const { session } = context;
      python ??= pythonVersion(platform);
      const isLimited = context.rights.folderLimits.length > 0;
      const mayKnowCwd = !isLimited || (await mayReadCwd(files, context));
      const [pythonFound, distribution, memory, disk] = await Promise.all([
        within(python),
        within(platform.distribution()),
        memoryOf(),
        mayKnowCwd ? within(roomAt(session.cwd)) : undefined,
      ]);
      const facts = {
        platform: platform.name,
        platform_release: os.release(),
        platform_version: os.version(),
        distribution,
        hostname: os.hostname(),
        arch: os.arch(),
        python_version: pythonFound,
        node_version: process.versions.node,
        ...(mayKnowCwd && { cwd: session.cwd }),
        ...(!isLimited && { user: userName(), home: os.homedir() }),
        cpu: { model: os.cpus()[0]?.model.trim() ?? null, cores: os.cpus().length, load: os.loadavg() },
        memory,
        ...(disk !== undefined && {
          disk: disk && {
            path: session.cwd,
            total_bytes: disk.totalBytes,
            used_bytes: disk.usedBytes,
            free_bytes: disk.freeBytes,
          },
        }),
        uptime_seconds: Math.round(os.uptime()),
      };
      return { output: linesOf(facts), metadata: facts };
    },
  });
}

async function mayReadCwd(files: Files, context: ToolContext): Promise<boolean> {
  return await (await files.as(context)).mayRead(context.session.cwd);
}

/** The value, or null if it fails or does not come in time. */
async function within<T>(part: Promise<T>): Promise<T | null> {
  const timer = new AbortController();
  const late = sleep(PART_MS, null, { signal: timer.signal }).catch(() => null);
  try {
    return await Promise.race([part.catch(() => null), late]);
  } finally {
    timer.abort();
  }
}

/** Null if there is none. */
async function pythonVersion(platform: Platform): Promise<string | null> {
  // If the developer tools are missing, Apple's stub opens a dialog that offers to install them.
  if (platform.name === "Darwin" && (await answerOf(platform, "xcode-select", ["-p"])) === undefined)
    return null;
  const candidates = platform.name === "Windows" ? [["py", "-3"], ["python"]] : [["python3"], ["python"]];
  for (const [program = "", ...args] of candidates) {
    const version = /Python (\d+\.\d+\.\d+\S*)/.exec(
      (await answerOf(platform, program, [...args, "--version"])) ?? "",
    );
    if (version?.[1]) return version[1];
  }
  return null;
}

/** Reads stderr too, where Python 2 prints its version. */
async function answerOf(
  platform: Platform,
  program: string,
  args: readonly string[],
): Promise<string | undefined> {
  try {
    const PATH = platform.systemPath(process.env);
    const file = findProgram(platform.name === "Windows" ? `${program}.exe` : program, { PATH });
    if (file === undefined) return undefined;
    const env = { ...bareEnvironment(), PATH };
    const { stdout, stderr } = await runProgram(file, args, { timeoutMs: PART_MS, env });
    return `${stdout}${stderr}`;
  } catch {
    return undefined;
  }
}

/** As Node tells it: a library would start programs by the PATH. */
function memoryOf() {
  return { total_bytes: os.totalmem(), available_bytes: os.freemem() };
}

function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    // The user has no entry in the system's user list, as in some containers.
    return String(process.getuid?.() ?? "unknown");
  }
}

function linesOf(facts: Record<string, unknown>): string {
  const lines: string[] = [];
  for (const [name, value] of Object.entries(facts)) {
    if (value === null || value === undefined) lines.push(`${name}: not known`);
    else if (Array.isArray(value)) lines.push(`${name}: ${value.map((n) => Number(n).toFixed(2)).join(" ")}`);
    else if (typeof value === "object") {
      for (const line of linesOf({ ...value }).split("\n")) lines.push(`${name}_${line}`);
    } else lines.push(`${name}: ${value}`);
  }
  return lines.join("\n");
}

/** Takes a picture with node-screenshots, in a separate process. */
import { createRequire } from "node:module";
import type { MonitorChoice } from "../platform/platform.ts";
import { runProgram } from "../platform/run-program.ts";
import { wrongParameterError } from "./errors.ts";
import {
  CAMERA_MS,
  type Monitor,
  NoPicture,
  type Picture,
  type PictureFacts,
  type PictureWanted,
} from "./screenshot.ts";
import type { Surroundings } from "./surroundings.ts";

/** What the program writes before the bytes. */
export interface CaptureAnswer {
  readonly error?: string;
  readonly facts?: PictureFacts;
  /** Without `facts`: the wanted one is not among these. */
  readonly monitors?: readonly Monitor[];
}

const PROGRAM = createRequire(import.meta.url).resolve("#capture-program");

/** Throws NoPicture, ProgramFailed, or MatrxError when there is no such monitor. */
export async function nativePicture(
  wanted: PictureWanted,
  { env, cwd }: Surroundings,
  signal: AbortSignal,
): Promise<Picture> {
  const { stdout: output } = await runProgram(process.execPath, [PROGRAM, JSON.stringify(wanted)], {
    timeoutMs: CAMERA_MS,
    env,
    cwd,
    signal,
  });
  const end = output.indexOf("\n");
  if (end < 0) throw new NoPicture("it ended without output");
  const { error, facts, monitors = [] } = answerIn(output.toString("utf8", 0, end));
  if (error !== undefined) throw new NoPicture(error.split("\n", 1)[0]);
  if (monitors.length > 0) throw noSuchMonitor(wanted.monitor, monitors);
  if (!facts) throw new NoPicture("it found no monitor");
  return { ...facts, bytes: output.subarray(end + 1), by: "node-screenshots" };
}

/** The library or the system may print something first. */
function answerIn(line: string): CaptureAnswer {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new NoPicture(`it said ${line.slice(0, 200)}`, { cause });
  }
}

function noSuchMonitor(wanted: MonitorChoice, monitors: readonly Monitor[]) {
  const choices = monitors.map(({ index, name, width, height }) => `${index} (${name}, ${width}x${height})`);
  return wrongParameterError(
    "monitor",
    `There is no monitor ${JSON.stringify(wanted)}`,
    `Choose one of ${choices.join(", ")}`,
  );
}

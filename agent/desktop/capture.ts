/** Takes a picture of the screen: by node-screenshots, else by what the system has. */
import path from "node:path";
import type { MatrxError } from "@matrx/shared/errors.ts";
import { findProgram, ProgramFailed } from "../platform/run-program.ts";
import { CAMERA_HINT, type Desktop, failed, noDisplay } from "./desktop.ts";
import { nativePicture } from "./native-screenshot.ts";
import { NoPicture, type Picture, type PictureWanted } from "./screenshot.ts";
import { systemPicture } from "./system-screenshot.ts";

/** What the libraries and programs say when the display does not answer. */
const NO_CONNECTION = /connection (?:closed|error|refused)|display string|open display/i;

/** Throws MatrxError. */
export async function capture(
  desktop: Desktop,
  wanted: PictureWanted,
  signal: AbortSignal,
): Promise<Picture> {
  desktop.requireDisplay();
  const env = await desktop.environment();
  const ways = new Map([["node-screenshots", () => nativePicture(wanted, env, signal)]]);
  for (const camera of desktop.platform.desktop.cameras(wanted.monitor, env)) {
    const program = findProgram(camera.program, env);
    const room = { pictures: desktop.pictures, env, signal };
    if (program) ways.set(path.basename(program), () => systemPicture(camera, program, wanted, room));
  }
  const troubles: string[] = [];
  for (const [name, take] of ways) {
    try {
      return await take();
    } catch (error) {
      if (!(error instanceof NoPicture || error instanceof ProgramFailed)) throw error;
      troubles.push(`${name}: ${error.message}`);
    }
  }
  throw noPicture(desktop, wanted, troubles.join("; "));
}

function noPicture(desktop: Desktop, { monitor }: PictureWanted, troubles: string): MatrxError {
  const { displayHint } = desktop.platform.desktop;
  if (NO_CONNECTION.test(troubles)) {
    return noDisplay(`The agent's display does not respond (${troubles})`, displayHint);
  }
  const hint =
    monitor === undefined
      ? CAMERA_HINT
      : "Omit monitor: the system's own screenshot programs may not support choosing one";
  return failed(`The screenshot failed (${troubles})`, hint, { reason: "NO_CAMERA" });
}

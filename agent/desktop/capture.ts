/** Takes a picture of the screen with node-screenshots, else with a program of the system. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { MatrxError } from "@matrx/shared/errors.ts";
import type { Album } from "../pictures/pictures.ts";
import type { Camera } from "../platform/platform.ts";
import { findProgram, ProgramFailed, runProgram } from "../platform/run-program.ts";
import { CAMERA_HINT, type Desktop } from "./desktop.ts";
import { desktopError, NO_CONNECTION, noDisplayError } from "./errors.ts";
import { nativePicture } from "./native-screenshot.ts";
import { looksOneColour, sizeOf } from "./one-colour.ts";
import { CAMERA_MS, NoPicture, type Picture, type PictureFormat, type PictureWanted } from "./screenshot.ts";
import type { Surroundings } from "./surroundings.ts";

/** `album`: of whoever wants it. Throws MatrxError. */
export async function capture(
  desktop: Desktop,
  wanted: PictureWanted,
  { album, signal, ...surroundings }: CaptureOptions,
): Promise<Picture> {
  desktop.requireDisplay();
  const { env } = surroundings;
  const ways = new Map([["node-screenshots", () => nativePicture(wanted, surroundings, signal)]]);
  for (const camera of desktop.platform.desktop.cameras(wanted.monitor, env)) {
    const program = findProgram(camera.program, env);
    const room = { album, ...surroundings, signal };
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
    return noDisplayError(`The agent's display does not respond (${troubles})`, displayHint);
  }
  const hint =
    monitor === undefined
      ? CAMERA_HINT
      : "Omit monitor: the system's own screenshot programs may not support choosing one";
  return desktopError(`The screenshot failed (${troubles})`, hint, { reason: "NO_CAMERA" });
}

export interface CaptureOptions extends Surroundings {
  readonly album: Pick<Album, "withScratch">;
  readonly signal: AbortSignal;
}

/** `program` is where the camera's program was found. Throws NoPicture or ProgramFailed. */
async function systemPicture(
  camera: Camera,
  program: string,
  { format, mostBytes }: PictureWanted,
  room: CaptureOptions,
): Promise<Picture> {
  const picture = await take(camera, program, format, room);
  if (picture.format === "jpeg" || picture.bytes.length <= mostBytes) return picture;
  return await take(camera, program, "jpeg", room);
}

function take(
  camera: Camera,
  program: string,
  format: PictureFormat,
  room: CaptureOptions,
): Promise<Picture> {
  const { album, env, cwd, signal } = room;
  return album.withScratch(format === "jpeg" ? "jpg" : "png", async (file) => {
    await runProgram(program, camera.argsFor(file, format), { timeoutMs: CAMERA_MS, env, cwd, signal });
    const bytes = await readFile(file).catch(() => undefined);
    const size = bytes && sizeOf(bytes);
    if (!size) throw new NoPicture("it ended without an error, but made no picture");
    return { ...size, bytes, by: path.basename(program), isOneColour: await looksOneColour(bytes) };
  });
}

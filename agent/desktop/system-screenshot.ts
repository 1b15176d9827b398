/** Takes a picture with a program that the system has. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Camera } from "../platform/platform.ts";
import { runProgram } from "../platform/run-program.ts";
import { looksOneColour, sizeOf } from "./one-colour.ts";
import type { Pictures } from "./pictures.ts";
import { CAMERA_MS, NoPicture, type Picture, type PictureFormat, type PictureWanted } from "./screenshot.ts";

interface Darkroom {
  readonly pictures: Pictures;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** `program` is where the camera's program was found. Throws NoPicture or ProgramFailed. */
export async function systemPicture(
  camera: Camera,
  program: string,
  { format, mostBytes }: PictureWanted,
  room: Darkroom,
): Promise<Picture> {
  const picture = await take(camera, program, format, room);
  if (picture.format === "jpeg" || picture.bytes.length <= mostBytes) return picture;
  return await take(camera, program, "jpeg", room);
}

function take(camera: Camera, program: string, format: PictureFormat, room: Darkroom): Promise<Picture> {
  const { pictures, env, signal } = room;
  return pictures.withScratch(format === "jpeg" ? "jpg" : "png", async (file) => {
    await runProgram(program, camera.argsFor(file, format), { timeoutMs: CAMERA_MS, env, signal });
    const bytes = await readFile(file).catch(() => undefined);
    const size = bytes && sizeOf(bytes);
    if (!size) throw new NoPicture("it ended without an error, but made no picture");
    return { ...size, bytes, by: path.basename(program), isOneColour: await looksOneColour(bytes) };
  });
}
